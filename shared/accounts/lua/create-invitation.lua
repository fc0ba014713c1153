-- Stores an invitation and its link. The number of open invitations is bounded.
--
-- KEYS[1]  record of the invitation (hash)
-- KEYS[2]  its link (string: id of the invitation)
-- KEYS[3]  index of the invitations (sorted set: id by expiry)
-- KEYS[4]  addresses (hash: address to id of a user)
-- KEYS[5]  record of the team to join (hash); looked at if ARGV[6] is '1'
-- ARGV[1]  id of the invitation
-- ARGV[2]  address
-- ARGV[3]  now, ms since 1970
-- ARGV[4]  expiry, ms since 1970
-- ARGV[5]  invitations that may be open
-- ARGV[6]  '1' when the invitation is to a team
-- ARGV[7…] fields of the record: name, value, name, value, …
-- Returns 'created', 'email taken', 'no team' or 'too many'.
if redis.call('HEXISTS', KEYS[4], ARGV[2]) == 1 then
  return 'email taken'
end
if ARGV[6] == '1' and redis.call('EXISTS', KEYS[5]) == 0 then
  return 'no team'
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[3])
if redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[5]) then
  return 'too many'
end
redis.call('HSET', KEYS[1], unpack(ARGV, 7))
redis.call('PEXPIREAT', KEYS[1], ARGV[4])
redis.call('SET', KEYS[2], ARGV[1], 'PXAT', ARGV[4])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
return 'created'
