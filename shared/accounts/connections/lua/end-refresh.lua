-- Ends the refresh of an MCP account link. Stores the new link, unless the old link was replaced or removed meanwhile.
--
-- KEYS[1]  MCP account links of the person (hash)
-- KEYS[2]  lock of the refresh: its holder (string)
-- ARGV[1]  JSON:
--   server
--   holder   holder of the lock
--   version  version of the old link; absent if there is no new link to store
-- ARGV[2]  the new link, as JSON; absent if there is none
-- Returns 1 if the link was stored, else 0.
local links, lock = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('GET', lock) == args.holder then
  redis.call('DEL', lock)
end
local stored = redis.call('HGET', links, args.server)
if not args.version or not stored or cjson.decode(stored).version ~= args.version then
  return 0
end
redis.call('HSET', links, args.server, ARGV[2])
return 1
