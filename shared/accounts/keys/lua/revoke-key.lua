-- Revokes a key. The first revocation counts: its time is kept when the key is revoked again.
--
-- KEYS[1]  record of the key (hash)
-- ARGV[1]  JSON:
--   now  ms since 1970
-- Returns 1 when the key is revoked now, 0 when it was revoked before, -1 when there is no such key.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return -1
end
return redis.call('HSETNX', KEYS[1], 'revokedAt', cjson.decode(ARGV[1]).now)
