-- Changes a person's role, blocks or unblocks them, or sets their limits. The last administrator stays one.
-- Blocking ends all their sessions. The open invitations of somebody who is an administrator no more, or blocked, are taken back:
-- the links would let them, or whom they like, in again.
--
-- KEYS[1]  record of the user (hash)
-- KEYS[2]  the administrators who are not blocked (set of ids)
-- KEYS[3]  index of the invitations (sorted set: id by expiry)
-- ARGV[1]  id of the user
-- ARGV[2]  the role, or '' to leave it
-- ARGV[3]  time of the blocking, ms since 1970; '0' to unblock, '' to leave it
-- ARGV[4]  limits as JSON, or '' to leave them
-- ARGV[5]  what the names of invitations' records begin with
-- ARGV[6]  what the names of invitations' links begin with
-- Returns 'changed', 'last admin' or 'unknown'.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'unknown'
end
local role, blockedAt = unpack(redis.call('HMGET', KEYS[1], 'role', 'blockedAt'))
local wasBlocked = blockedAt and true or false
local isBlocked = wasBlocked
if ARGV[2] ~= '' then
  role = ARGV[2]
end
if ARGV[3] ~= '' then
  isBlocked = ARGV[3] ~= '0'
end
local serves = role == 'admin' and not isBlocked
if not serves and redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 and redis.call('SCARD', KEYS[2]) == 1 then
  return 'last admin'
end
redis.call('HSET', KEYS[1], 'role', role)
if isBlocked and not wasBlocked then
  redis.call('HSET', KEYS[1], 'blockedAt', ARGV[3])
  redis.call('HINCRBY', KEYS[1], 'epoch', 1)
elseif not isBlocked then
  redis.call('HDEL', KEYS[1], 'blockedAt')
end
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'limits', ARGV[4])
end
if serves then
  redis.call('SADD', KEYS[2], ARGV[1])
elseif redis.call('SREM', KEYS[2], ARGV[1]) == 1 then
  for _, id in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    local invitedBy, linkHash = unpack(redis.call('HMGET', ARGV[5] .. id, 'invitedBy', 'linkHash'))
    if invitedBy == ARGV[1] then
      redis.call('DEL', ARGV[5] .. id, ARGV[6] .. linkHash)
      redis.call('ZREM', KEYS[3], id)
    end
  end
end
return 'changed'
