-- Ends the refresh of an MCP account link. Stores the new link, unless the old one was replaced or removed meanwhile.
--
-- KEYS[1]  MCP account links of the person (hash)
-- KEYS[2]  lock of the refresh: its holder (string)
-- ARGV[1]  JSON:
--   server
--   version  of the link that is refreshed
--   holder   of the lock
--   keeps    whether there is a new link to store
-- ARGV[2]  the link, as JSON
-- Returns 1 if the link was stored, else 0.
local connections, refresh = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('GET', refresh) == args.holder then
  redis.call('DEL', refresh)
end
local stored = redis.call('HGET', connections, args.server)
if not args.keeps or not stored or cjson.decode(stored).version ~= args.version then
  return 0
end
redis.call('HSET', connections, args.server, ARGV[2])
return 1
