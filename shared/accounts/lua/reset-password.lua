-- Sets the password of the person whom a link was made for, ends all their sessions, and uses the link up.
--
-- KEYS[1]  the link (string: the user's id and epoch, as `id:epoch`)
-- KEYS[2]  record of the user (hash)
-- ARGV[1]  id of the user, and a colon
-- ARGV[2]  the new password's hash
-- Returns 1 when it was set, 0 when there is no such link any more, the user's epoch is another by now, or the person is blocked.
local epoch = redis.call('HGET', KEYS[2], 'epoch')
if not epoch or redis.call('GET', KEYS[1]) ~= ARGV[1] .. epoch then
  return 0
end
if redis.call('HEXISTS', KEYS[2], 'blockedAt') == 1 then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[2], 'passwordHash', ARGV[2])
redis.call('HINCRBY', KEYS[2], 'epoch', 1)
return 1
