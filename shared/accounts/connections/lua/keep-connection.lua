-- Stores a person's MCP account link for a server, in place of an earlier link for this server.
--
-- KEYS[1]  record of the user (hash)
-- KEYS[2]  MCP account links of the user (hash)
-- ARGV[1]  JSON:
--   server
-- ARGV[2]  the link, as JSON
-- Returns 1, or 0 if there is no such user, or the user is blocked.
local user, links = unpack(KEYS)
if redis.call('EXISTS', user) == 0 or redis.call('HEXISTS', user, 'blockedAt') == 1 then
  return 0
end
redis.call('HSET', links, cjson.decode(ARGV[1]).server, ARGV[2])
return 1
