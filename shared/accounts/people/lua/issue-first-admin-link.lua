-- Stores the link with which the first administrator is created, if there is no administrator. Replaces an earlier link.
--
-- KEYS[1]  the link (string: hash of its token)
-- KEYS[2]  the administrators who are not blocked (set of ids)
-- ARGV[1]  JSON:
--   tokenHash  hash of the new token
--   usableMs   milliseconds for which the link can be used
-- Returns 1 when the link was stored, 0 when there is an administrator who is not blocked.
local link, admins = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('SCARD', admins) > 0 then
  return 0
end
redis.call('SET', link, args.tokenHash, 'PX', args.usableMs)
return 1
