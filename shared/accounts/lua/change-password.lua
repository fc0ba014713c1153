-- Puts a new password in the place of the one that was proven, and ends all sessions.
--
-- KEYS[1]  record of the user (hash)
-- ARGV[1]  the old password's hash
-- ARGV[2]  the new password's hash
-- Returns 1 when it was changed, 0 when the old one is not in force any more.
if redis.call('HGET', KEYS[1], 'passwordHash') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'passwordHash', ARGV[2])
redis.call('HINCRBY', KEYS[1], 'epoch', 1)
return 1
