-- Creates the account of a person who has signed in at a provider.
--
-- KEYS[1]  accounts at providers (hash: issuer and subject to the id of a person)
-- KEYS[2]  addresses (hash: address to id)
-- KEYS[3]  record of the new user (hash)
-- KEYS[4]  index of all users (sorted set: id by creation time)
-- KEYS[5]  the administrators who are not blocked (set of ids)
-- KEYS[6]  the new user's account at a provider (hash)
-- ARGV[1]  JSON:
--   external   issuer and subject
--   userId
--   email
--   createdAt  ms since 1970
--   isAdmin
--   fields     fields of the new user's record
--   account    fields of the account at the provider
-- Returns 'made', 'email taken' if another person has the address, or 'taken' if the account at the provider belongs to a person already.
local externals, emails, user, users, admins, account = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('HEXISTS', externals, args.external) == 1 then
  return 'taken'
end
if redis.call('HSETNX', emails, args.email, args.userId) == 0 then
  return 'email taken'
end
redis.call('HSET', externals, args.external, args.userId)
for name, value in pairs(args.fields) do
  redis.call('HSET', user, name, value)
end
for name, value in pairs(args.account) do
  redis.call('HSET', account, name, value)
end
redis.call('ZADD', users, args.createdAt, args.userId)
if args.isAdmin then
  redis.call('SADD', admins, args.userId)
end
return 'made'
