-- Stores an invitation of a box. The number of invitations that have not expired is bounded.
--
-- KEYS[1]  the invitation (hash)
-- KEYS[2]  index of the invitations (sorted set: id by expiry)
-- ARGV[1]  JSON:
--   id
--   now        ms since 1970
--   expiresAt  ms since 1970
--   keptUntil  ms since 1970, the time until which the record is kept
--   maxOpen    maximum number of invitations that have not expired
--   fields     fields of the record
-- Returns 1, or 0 if there are too many.
local invitation, invitations = unpack(KEYS)
local args = cjson.decode(ARGV[1])
redis.call('ZREMRANGEBYSCORE', invitations, '-inf', args.now)
if redis.call('ZCARD', invitations) >= args.maxOpen then
  return 0
end
for name, value in pairs(args.fields) do
  redis.call('HSET', invitation, name, value)
end
redis.call('PEXPIREAT', invitation, args.keptUntil)
redis.call('ZADD', invitations, args.expiresAt, args.id)
return 1
