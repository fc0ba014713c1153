-- Ends the refresh of a connection: keeps what came of it, unless the connection was replaced or removed meanwhile.
--
-- KEYS[1]  the user's connections (hash)
-- KEYS[2]  who refreshes the connection (string)
-- ARGV[1]  JSON:
--   server
--   version  of the connection that is refreshed
--   holder   who refreshes it
--   keeps    whether there is anything to keep
-- ARGV[2]  the connection, as JSON
-- Returns 1 if it was kept.
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
