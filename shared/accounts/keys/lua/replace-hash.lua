-- Puts another hash of the same secret in the place of a key's hash, if that is still the one that the secret was proven against.
--
-- KEYS[1]  record of the key (hash)
-- ARGV[1]  JSON:
--   from  the hash that is replaced
--   to    the hash that takes its place
-- Returns 1 when it was replaced, 0 when the key has another hash or is gone.
local args = cjson.decode(ARGV[1])
if redis.call('HGET', KEYS[1], 'hash') ~= args.from then
  return 0
end
redis.call('HSET', KEYS[1], 'hash', args.to)
return 1
