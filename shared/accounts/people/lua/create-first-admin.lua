-- Creates the first administrator, and removes the link that permits it. The first router key, and the keys that have replaced it, become
-- personal keys of the administrator, unless they are revoked or belong to somebody. A key that has stored something still reads it, and
-- owns what it stores.
--
-- KEYS[1]  the link (string: hash of its token)
-- KEYS[2]  the administrators who are not blocked (set of ids)
-- KEYS[3]  addresses (hash: address to id)
-- KEYS[4]  record of the new user (hash)
-- KEYS[5]  index of all users (sorted set: id by creation time)
-- KEYS[6]  marker that a router key was made (string: id of the first one)
-- KEYS[7]  index of the new user's keys (sorted set: id by creation time)
-- ARGV[1]  JSON:
--   tokenHash  hash of the link's token
--   userId
--   email
--   createdAt  ms since 1970
--   fields     fields of the new user's record
--   firstKey   { name: of the first router key; prefix: start of the names of keys' records; start: of its raw form }
--   stored     starts of the names of what an owner has stored; the id of the owner follows
-- Returns 'created', 'no link', or 'email taken', which leaves the link as it is.
local link, admins, emails, user, users, routerMarker, keysOfUser = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('GET', link) ~= args.tokenHash or redis.call('SCARD', admins) > 0 then
  return 'no link'
end
if redis.call('HSETNX', emails, args.email, args.userId) == 0 then
  return 'email taken'
end
redis.call('DEL', link)
for name, value in pairs(args.fields) do
  redis.call('HSET', user, name, value)
end
redis.call('ZADD', users, args.createdAt, args.userId)
redis.call('SADD', admins, args.userId)

local function hasStored(id)
  for _, name in ipairs(args.stored) do
    if redis.call('EXISTS', name .. id) == 1 then
      return true
    end
  end
  return false
end

local keyId = redis.call('GET', routerMarker)
while keyId do
  local key = args.firstKey.prefix .. keyId
  local kind, name, createdAt, ownerId, revokedAt, replacedBy = unpack(
    redis.call('HMGET', key, 'kind', 'name', 'createdAt', 'ownerId', 'revokedAt', 'replacedBy')
  )
  if kind == 'router' and name == args.firstKey.name and not ownerId and not revokedAt then
    redis.call('HSET', key, 'kind', 'user', 'ownerId', args.userId)
    redis.call('HSETNX', key, 'start', args.firstKey.start .. keyId .. '_')
    if hasStored(keyId) then
      redis.call('HSET', key, 'storesAs', keyId)
    end
    redis.call('ZADD', keysOfUser, createdAt, keyId)
  end
  keyId = replacedBy
end
return 'created'
