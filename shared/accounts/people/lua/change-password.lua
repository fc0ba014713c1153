-- Replaces the verified password by a new one. Ends all sign-in sessions and admin tokens, and the refusal by a provider.
--
-- KEYS[1]  record of the user (hash)
-- ARGV[1]  JSON:
--   provenHash  hash of the old password
--   newHash     hash of the new password
-- Returns 1 when the password was replaced, 0 when the person no longer has the old password.
local args = cjson.decode(ARGV[1])
if redis.call('HGET', KEYS[1], 'passwordHash') ~= args.provenHash then
  return 0
end
redis.call('HSET', KEYS[1], 'passwordHash', args.newHash)
redis.call('HDEL', KEYS[1], 'refusedAt')
redis.call('HINCRBY', KEYS[1], 'epoch', 1)
redis.call('HINCRBY', KEYS[1], 'tokenEpoch', 1)
return 1
