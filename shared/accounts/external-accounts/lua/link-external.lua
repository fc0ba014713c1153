-- Links an account at a provider to a person who has none at any provider yet. Both sides are written here: of several that come at once
-- with the address of one person, one is linked.
--
-- KEYS[1]  accounts at providers (hash: issuer and subject to the id of a person)
-- KEYS[2]  record of the person (hash)
-- KEYS[3]  the person's account at a provider (hash)
-- ARGV[1]  JSON:
--   external  issuer and subject
--   userId
--   account   fields of the person's account at the provider
-- Returns 1, or 0 when one of both has another account already, or the person is gone.
local externals, user, own = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', user) == 0 or redis.call('EXISTS', own) == 1 then
  return 0
end
if redis.call('HSETNX', externals, args.external, args.userId) == 0 then
  return 0
end
for name, value in pairs(args.account) do
  redis.call('HSET', own, name, value)
end
-- The account of somebody who has not signed in yet: links that were made for them to set a password are void from now on.
if redis.call('HGET', user, 'passwordHash') == '' then
  redis.call('HINCRBY', user, 'epoch', 1)
end
return 1
