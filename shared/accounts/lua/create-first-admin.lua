-- Makes the first administrator, and uses up the link that allows it.
--
-- KEYS[1]  the link (string: hash of its token)
-- KEYS[2]  the administrators who are not blocked (set of ids)
-- KEYS[3]  addresses (hash: address to id)
-- KEYS[4]  record of the new user (hash)
-- KEYS[5]  index of all users (sorted set: id by creation time)
-- ARGV[1]  hash of the token
-- ARGV[2]  id of the new user
-- ARGV[3]  address
-- ARGV[4]  creation time, ms since 1970
-- ARGV[5…] fields of the record: name, value, name, value, …
-- Returns 'created', 'no link', or 'email taken', which leaves the link as it is.
if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('SCARD', KEYS[2]) > 0 then
  return 'no link'
end
if redis.call('HSETNX', KEYS[3], ARGV[3], ARGV[2]) == 0 then
  return 'email taken'
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[4], unpack(ARGV, 5))
redis.call('ZADD', KEYS[5], ARGV[4], ARGV[2])
redis.call('SADD', KEYS[2], ARGV[2])
return 'created'
