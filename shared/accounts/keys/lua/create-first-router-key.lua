-- Stores a router key if no router key was ever made. If several processes call this at once, exactly one succeeds.
--
-- KEYS[1]  marker that a router key was made (string: id of the first one); never deleted
-- KEYS[2]  record of the new key (hash)
-- KEYS[3]  index of all keys (sorted set: id by creation time)
-- ARGV[1]  JSON:
--   id
--   createdAt  ms since 1970
--   fields     of the new key's record
-- Returns 1 when the key was stored, 0 when a router key was made before.
local marker, record, keys = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if not redis.call('SET', marker, args.id, 'NX') then
  return 0
end
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
redis.call('ZADD', keys, args.createdAt, args.id)
return 1
