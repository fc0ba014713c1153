-- Unlinks a person from the account at a provider. Ends their sign-in sessions, programs and admin tokens, because a sign-in with that
-- account is no longer a sign-in of this person.
--
-- KEYS[1]  accounts at providers (hash: issuer and subject to the id of a person)
-- KEYS[2]  record of the person (hash)
-- KEYS[3]  the person's account at a provider (hash)
-- ARGV[1]  JSON:
--   userId
-- Returns the name of the provider; nil when the person has no account at a provider, or is deleted.
local externals, user, account = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local provider, issuer, subject = unpack(redis.call('HMGET', account, 'provider', 'issuer', 'subject'))
if not provider or redis.call('EXISTS', user) == 0 then
  return nil
end
local external = (issuer or '') .. ' ' .. (subject or '')
if redis.call('HGET', externals, external) == args.userId then
  redis.call('HDEL', externals, external)
end
redis.call('DEL', account)
redis.call('HINCRBY', user, 'epoch', 1)
redis.call('HINCRBY', user, 'tokenEpoch', 1)
return provider
