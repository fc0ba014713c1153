-- Stores a version of the registry, if the version that was edited is still the newest version. If there are too many versions, removes the
-- oldest ones.
--
-- KEYS[1]  index of versions (sorted set: `<number>:<etag>` by number)
-- ARGV[1]  JSON:
--   versionPrefix  start of the names of versions (hash: text, config, at, by, byName, note, revertOf)
--   basedOn        number of the version that was edited; 0 if there is none
--   etag           etag of the text
--   fields         further fields of the version
--   maxVersions    maximum of versions
-- ARGV[2]  the text
-- ARGV[3]  the content of the text, as JSON
-- Returns {1, number of the stored version}, or {0, number of the newest version} if another version than the newest was edited.
local index = KEYS[1]
local args = cjson.decode(ARGV[1])
local time = redis.call('TIME')

local newest = tonumber(redis.call('ZREVRANGE', index, 0, 0, 'WITHSCORES')[2] or '0')
if newest ~= args.basedOn then
  return { 0, newest }
end

local number = newest + 1
local version = args.versionPrefix .. number
redis.call('DEL', version)
redis.call('HSET', version, 'text', ARGV[2], 'config', ARGV[3], 'at', time[1] * 1000 + math.floor(time[2] / 1000))
for name, value in pairs(args.fields) do
  redis.call('HSET', version, name, value)
end
redis.call('ZADD', index, number, number .. ':' .. args.etag)
while redis.call('ZCARD', index) > args.maxVersions do
  local oldest = redis.call('ZPOPMIN', index)[2]
  redis.call('DEL', args.versionPrefix .. oldest)
end
return { 1, number }
