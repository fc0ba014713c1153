-- Removes a person: the record, memberships, sign-in sessions, programs, second factors, MCP account links, the account at an identity
-- provider, and the address. The address can then be used again. The last administrator is not removed, nor a person with a key that is not
-- revoked. `forget-keys.lua` is prepended to this script.
--
-- KEYS[1]  record of the user (hash)
-- KEYS[2]  addresses (hash: address to id)
-- KEYS[3]  index of all users (sorted set)
-- KEYS[4]  the administrators who are not blocked (set of ids)
-- KEYS[5]  the user's teams (hash: team to role)
-- KEYS[6]  the user's sign-in sessions (list of hashes of ids)
-- KEYS[7]  the user's programs (sorted set of ids)
-- KEYS[8]  programs that were signed out (sorted set: id by the time until which an access token may last)
-- KEYS[9]  accounts at providers (hash: issuer and subject to the id of a person)
-- KEYS[10] the user's account at a provider (hash)
-- KEYS[11] the user's second factors (hash)
-- KEYS[12] the user's MCP account links (hash)
-- KEYS[13] index of all keys (sorted set)
-- KEYS[14] index of the user's keys (sorted set)
-- KEYS[15] last uses of keys (hash)
-- ARGV[1]  JSON:
--   id
--   revokedUntil  the time, in ms since 1970, until which existing access tokens may last
--   membersOfPrefix, sessionPrefix, programPrefix  starts of names
--   keyPrefix, keysKeptMs  see `forgetKeys`
-- Returns 'deleted', 'last admin', 'key left' or 'unknown'.
local user, emails, users, admins, teams, sessions, programs, revoked, externals, external, factor, connections =
  unpack(KEYS)
local keys, keysOfUser, uses = unpack(KEYS, 13)
local args = cjson.decode(ARGV[1])
local email = redis.call('HGET', user, 'email')
if not email then
  return 'unknown'
end
if redis.call('SISMEMBER', admins, args.id) == 1 and redis.call('SCARD', admins) == 1 then
  return 'last admin'
end
if not forgetKeys(keys, keysOfUser, uses, args) then
  return 'key left'
end
if redis.call('HGET', emails, email) == args.id then
  redis.call('HDEL', emails, email)
end
for _, team in ipairs(redis.call('HKEYS', teams)) do
  redis.call('HDEL', args.membersOfPrefix .. team, args.id)
end
for _, session in ipairs(redis.call('LRANGE', sessions, 0, -1)) do
  redis.call('DEL', args.sessionPrefix .. session)
end
for _, program in ipairs(redis.call('ZRANGE', programs, 0, -1)) do
  redis.call('DEL', args.programPrefix .. program)
  redis.call('ZADD', revoked, args.revokedUntil, program)
end
local issuer, subject = unpack(redis.call('HMGET', external, 'issuer', 'subject'))
if issuer and subject then
  redis.call('HDEL', externals, issuer .. ' ' .. subject)
end
redis.call('ZREM', users, args.id)
redis.call('SREM', admins, args.id)
redis.call('DEL', user, teams, sessions, programs, external, factor, connections)
return 'deleted'
