-- Has a session that has not ended meanwhile live for so long from now on.
--
-- KEYS[1]  the session (hash)
-- KEYS[2]  record of its user (hash)
-- ARGV[1]  milliseconds
-- ARGV[2]  now, ms since 1970
-- Returns 1, or 0 when the session has ended.
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'livesMs', ARGV[1])
redis.call('HSET', KEYS[2], 'lastSeenAt', ARGV[2])
return 1
