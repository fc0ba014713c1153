-- Stores a router key if no router key has ever been made, so that of any number of set-ups at once exactly one wins.
--
-- KEYS[1]  marker that a router key was made: holds the id of the first one, never deleted
-- KEYS[2]  record of the new key (hash)
-- KEYS[3]  index of all keys (sorted set: id by creation time)
-- ARGV[1]  id of the new key
-- ARGV[2]  creation time, ms since 1970
-- ARGV[3…] fields of the record: name, value, name, value, …
-- Returns 1 when the key was stored, 0 when a router key had been made before.
if not redis.call('SET', KEYS[1], ARGV[1], 'NX') then
  return 0
end
redis.call('HSET', KEYS[2], unpack(ARGV, 3))
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
return 1
