-- Opens a sign-in session, unless the person is blocked, or was signed out everywhere after the check of the password. If the person then
-- has too many sessions, the oldest session ends.
--
-- KEYS[1]  the session (hash)
-- KEYS[2]  the person's sessions, newest first (list of hashes of ids)
-- KEYS[3]  record of the user (hash)
-- ARGV[1]  JSON:
--   idHash         hash of the session's id
--   userId
--   epoch          epoch of the user at the check of the password
--   origin         further fields of the session
--   now            ms since 1970
--   idleMs         milliseconds without a request until the session ends
--   maxMs          maximum milliseconds for which a session lasts
--   maxPerUser     maximum of sessions of a person
--   sessionPrefix  start of the names of sessions
-- Returns 1 if the session was opened, else 0.
local session, sessions, user = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('HEXISTS', user, 'blockedAt') == 1 or tonumber(redis.call('HGET', user, 'epoch') or '') ~= args.epoch then
  return 0
end
redis.call('HSET', session, 'userId', args.userId, 'epoch', args.epoch, 'startedAt', args.now, 'livesMs', args.idleMs)
for name, value in pairs(args.origin) do
  redis.call('HSET', session, name, value)
end
redis.call('PEXPIRE', session, args.idleMs)
redis.call('LPUSH', sessions, args.idHash)
redis.call('PEXPIRE', sessions, args.maxMs)
for _, old in ipairs(redis.call('LRANGE', sessions, args.maxPerUser, -1)) do
  redis.call('DEL', args.sessionPrefix .. old)
end
redis.call('LTRIM', sessions, 0, args.maxPerUser - 1)
redis.call('HSET', user, 'lastSeenAt', args.now)
return 1
