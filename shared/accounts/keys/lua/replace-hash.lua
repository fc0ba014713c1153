-- Replaces the hash of a key by another hash of the same secret, if the stored hash is still the one with which the secret was verified.
--
-- KEYS[1]  record of the key (hash)
-- ARGV[1]  JSON:
--   from  the old hash
--   to    the new hash
-- Returns 1 when the hash was replaced, 0 when the key has another hash or no longer exists.
local args = cjson.decode(ARGV[1])
if redis.call('HGET', KEYS[1], 'hash') ~= args.from then
  return 0
end
redis.call('HSET', KEYS[1], 'hash', args.to)
return 1
