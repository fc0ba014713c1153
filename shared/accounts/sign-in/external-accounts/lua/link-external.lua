-- Links an account at a provider to a person who has no account at any provider yet. Both directions of the link are written in one step.
-- So if several accounts with the address of one person sign in at once, only one is linked. Revokes everything that an earlier holder of
-- the person's account may have: sign-in sessions, programs, admin tokens, the password, links to set a password, and second factors.
--
-- KEYS[1]  accounts at providers (hash: issuer and subject to the id of a person)
-- KEYS[2]  record of the person (hash)
-- KEYS[3]  the person's account at a provider (hash)
-- KEYS[4]  the person's second factors (hash)
-- ARGV[1]  JSON:
--   external  issuer and subject
--   userId
--   email     the address by which the person was found
--   account   fields of the person's account at the provider
-- Returns 1. Returns 0 if the account belongs to a person already, or the person has an account at a provider, has another address or is
-- deleted.
local externals, user, account, factors = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('HGET', user, 'email') ~= args.email or redis.call('EXISTS', account) == 1 then
  return 0
end
if redis.call('HSETNX', externals, args.external, args.userId) == 0 then
  return 0
end
for name, value in pairs(args.account) do
  redis.call('HSET', account, name, value)
end
redis.call('HSET', user, 'passwordHash', '', 'confirmedEmail', args.email, 'usedEmail', args.email)
redis.call('HINCRBY', user, 'epoch', 1)
redis.call('HINCRBY', user, 'tokenEpoch', 1)
redis.call('DEL', factors)
return 1
