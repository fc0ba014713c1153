-- Binds an invitation to the public key of the box that redeems it first. The same box may repeat this, because the answer may have been
-- lost.
--
-- KEYS[1]  the invitation (hash)
-- ARGV[1]  JSON:
--   now  ms since 1970
--   key  the public key of the box
-- Returns 'bound', 'unknown', 'expired' or 'used'.
local invitation = KEYS[1]
local args = cjson.decode(ARGV[1])
local expiresAt, key = unpack(redis.call('HMGET', invitation, 'expiresAt', 'key'))
if not expiresAt then
  return 'unknown'
end
if tonumber(expiresAt) <= args.now then
  return 'expired'
end
if key and key ~= args.key then
  return 'used'
end
if not key then
  redis.call('HSET', invitation, 'key', args.key, 'redeemedAt', args.now)
end
return 'bound'
