-- Opens a session for a person who is not blocked and was not signed out everywhere since their password was checked.
-- A person has a bounded number of sessions: the oldest gives way.
--
-- KEYS[1]  the session (hash)
-- KEYS[2]  the person's sessions, newest first (list of hashes of ids)
-- KEYS[3]  record of the user (hash)
-- ARGV[1]  hash of the session's id
-- ARGV[2]  id of the user
-- ARGV[3]  the user's epoch when the password was checked
-- ARGV[4]  now, ms since 1970
-- ARGV[5]  milliseconds for which the session lives without a request
-- ARGV[6]  milliseconds for which it lives at most
-- ARGV[7]  sessions that a person may have
-- ARGV[8]  what the names of sessions begin with
-- Returns 1 when it was opened, else 0.
if redis.call('HEXISTS', KEYS[3], 'blockedAt') == 1 or redis.call('HGET', KEYS[3], 'epoch') ~= ARGV[3] then
  return 0
end
redis.call('HSET', KEYS[1], 'userId', ARGV[2], 'epoch', ARGV[3], 'startedAt', ARGV[4], 'livesMs', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('LPUSH', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
local most = tonumber(ARGV[7])
for _, old in ipairs(redis.call('LRANGE', KEYS[2], most, -1)) do
  redis.call('DEL', ARGV[8] .. old)
end
redis.call('LTRIM', KEYS[2], 0, most - 1)
redis.call('HSET', KEYS[3], 'lastSeenAt', ARGV[4])
return 1
