-- Lets a `validating` batch hold the content of its input file, because its owner may remove the file while the batch runs. `files.lua` is
-- also prepended to this script.
--
-- ARGV[1]  JSON: prefix and id
-- Returns the object; false if the owner has no such file, or the batch is in another state.
if field('state') ~= 'validating' then
  return false
end
local input = field('input')
if input then
  return input
end
local file = owned.readEntry(field('owner'), field('inputFile'))
if not file or (file.expiresAt and file.expiresAt <= now) then
  return false
end
hold(file.object)
redis.call('SADD', nameOf('held'), file.object)
redis.call('HSET', record, 'input', file.object)
return file.object
