-- Releases some of the objects that a batch holds, if the batch is over or unknown. `files.lua` is also prepended to this script.
--
-- ARGV[1]  JSON, besides prefix and id:
--   maxObjects  maximum number of objects
-- Returns how many objects the batch still holds, and then the objects that may be removed.
if isOpen() then
  return { 0 }
end
local held = nameOf('held')
local objects = redis.call('SPOP', held, args.maxObjects)
local reply = { redis.call('SCARD', held) }
for _, object in ipairs(objects) do
  if release(object) then
    table.insert(reply, object)
  end
end
return reply
