-- Stores the link that allows to make the first administrator, in place of an earlier one, while there is none.
--
-- KEYS[1]  the link (string: hash of its token)
-- KEYS[2]  the administrators who are not blocked (set of ids)
-- ARGV[1]  hash of the new token
-- ARGV[2]  milliseconds for which it can be used
-- Returns 1 when it was stored, 0 when there is an administrator.
if redis.call('SCARD', KEYS[2]) > 0 then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
