-- Links an account at a provider to the account of a person who has none at that provider yet.
--
-- KEYS[1]  accounts at providers (hash: issuer and subject to the id of a person)
-- KEYS[2]  record of the person (hash)
-- KEYS[3]  the person's account at a provider (hash)
-- ARGV[1]  JSON:
--   external  issuer and subject
--   userId
-- Returns 1, or 0 when one of both has another account already, or the person is gone.
local externals, user, own = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', user) == 0 or redis.call('EXISTS', own) == 1 then
  return 0
end
return redis.call('HSETNX', externals, args.external, args.userId)
