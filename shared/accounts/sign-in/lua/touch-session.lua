-- Extends a sign-in session, unless it has ended meanwhile.
--
-- KEYS[1]  the session (hash)
-- KEYS[2]  record of its user (hash)
-- ARGV[1]  JSON:
--   now     ms since 1970
--   idleMs  milliseconds from now until the session ends without another request
-- Returns 1, or 0 if the session has ended.
local session, user = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('PEXPIRE', session, args.idleMs) == 0 then
  return 0
end
redis.call('HSET', session, 'livesMs', args.idleMs)
redis.call('HSET', user, 'lastSeenAt', args.now)
return 1
