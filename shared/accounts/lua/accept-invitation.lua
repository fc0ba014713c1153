-- Makes the account of an invited person, and uses the invitation up. A team that is gone by now is left out.
--
-- KEYS[1]  the link (string: id of the invitation)
-- KEYS[2]  record of the invitation (hash)
-- KEYS[3]  index of the invitations (sorted set: id by expiry)
-- KEYS[4]  addresses (hash: address to id)
-- KEYS[5]  record of the new user (hash)
-- KEYS[6]  index of all users (sorted set: id by creation time)
-- KEYS[7]  the administrators who are not blocked (set of ids)
-- KEYS[8]  the new user's teams (hash: team to role)
-- KEYS[9]  record of the team (hash); this and the next are looked at if ARGV[5] is not ''
-- KEYS[10] members of the team (hash: user to role)
-- ARGV[1]  id of the invitation
-- ARGV[2]  id of the new user
-- ARGV[3]  address
-- ARGV[4]  creation time, ms since 1970
-- ARGV[5]  id of the team, or ''
-- ARGV[6]  role of the new user
-- ARGV[7…] fields of the record: name, value, name, value, …
-- Returns 'created', 'no link', or 'email taken'.
if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('EXISTS', KEYS[2]) == 0 then
  return 'no link'
end
if redis.call('HSETNX', KEYS[4], ARGV[3], ARGV[2]) == 0 then
  return 'email taken'
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('HSET', KEYS[5], unpack(ARGV, 7))
redis.call('ZADD', KEYS[6], ARGV[4], ARGV[2])
if ARGV[6] == 'admin' then
  redis.call('SADD', KEYS[7], ARGV[2])
end
if ARGV[5] ~= '' and redis.call('EXISTS', KEYS[9]) == 1 then
  redis.call('HSET', KEYS[8], ARGV[5], 'member')
  redis.call('HSET', KEYS[10], ARGV[2], 'member')
end
return 'created'
