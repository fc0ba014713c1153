-- Stores a new key, if its owner exists. If the new key replaces an old key, the old key is set to expire, and the new key gets every
-- setting of the old key, including settings that this release does not define. If the owner has the maximum number of keys, the oldest key
-- that is revoked or expired is removed, after the content that only this key could read. `is-store-read.lua` is prepended to this script.
--
-- KEYS[1]  record of the new key (hash)
-- KEYS[2]  index of all keys (sorted set: id by creation time)
-- KEYS[3]  marker that a router key was made (string: id of the first one)
-- KEYS[4]  last uses (hash: id to time)
-- KEYS[5]  record of the owner (hash); unused for a router key
-- KEYS[6]  index of the owner's keys (sorted set: id by creation time); unused for a router key
-- KEYS[7]  record of the key to replace (hash); unused if `oldExpiresAt` is absent
-- ARGV[1]  JSON:
--   id
--   createdAt     ms since 1970
--   isOwned       whether the key has an owner
--   isRouter      whether the new key is a router key
--   emptied       id of which the stored content was removed after an earlier run; absent in the first run
--   oldExpiresAt  when the key to replace expires, ms since 1970; absent when the new key replaces none
--   maxPerOwner   maximum number of keys of an owner
--   keyPrefix     start of the names of keys' records
--   fields        fields of the new key's record; if it replaces a key, only the fields in which the two differ
-- Returns 'created'; 'no owner'; 'too many'; 'not usable' when the key to replace is revoked, expired, replaced or unknown; or
-- `unread <id>`, with nothing created, when the key that makes room is the last one that could read the content that is stored under that
-- id. That key is then revoked, and the content must be removed before the script is run again.
local record, keys, routerMarker, uses, owner, keysOfOwner, old = unpack(KEYS)
local args = cjson.decode(ARGV[1])

local function isOver(key)
  local revokedAt, expiresAt = unpack(redis.call('HMGET', key, 'revokedAt', 'expiresAt'))
  local expiry = tonumber(expiresAt or '')
  return revokedAt or (expiry and expiry <= args.createdAt)
end

if args.oldExpiresAt then
  local isUnknown = redis.call('EXISTS', old) == 0
  if isUnknown or isOver(old) or redis.call('HEXISTS', old, 'replacedBy') == 1 then
    return 'not usable'
  end
end
if args.isOwned then
  if redis.call('EXISTS', owner) == 0 then
    return 'no owner'
  end
  if redis.call('ZCARD', keysOfOwner) >= args.maxPerOwner then
    local removedId
    for _, id in ipairs(redis.call('ZRANGE', keysOfOwner, 0, -1)) do
      if isOver(args.keyPrefix .. id) then
        removedId = id
        break
      end
    end
    if not removedId then
      return 'too many'
    end
    local storesAs = redis.call('HGET', args.keyPrefix .. removedId, 'storesAs')
    local keyIds = redis.call('ZRANGE', keysOfOwner, 0, -1)
    local isRead = not storesAs or isStoreRead(storesAs, keyIds, removedId, args.keyPrefix, args.createdAt)
    if not isRead and storesAs ~= args.emptied then
      redis.call('HSETNX', args.keyPrefix .. removedId, 'revokedAt', args.createdAt)
      return 'unread ' .. storesAs
    end
    redis.call('DEL', args.keyPrefix .. removedId)
    redis.call('ZREM', keysOfOwner, removedId)
    redis.call('ZREM', keys, removedId)
    redis.call('HDEL', uses, removedId)
  end
  redis.call('ZADD', keysOfOwner, args.createdAt, args.id)
end
if args.oldExpiresAt then
  redis.call('HSET', record, unpack(redis.call('HGETALL', old)))
  local expiry = tonumber(redis.call('HGET', old, 'expiresAt') or '') or args.oldExpiresAt
  redis.call('HSET', old, 'replacedBy', args.id, 'expiresAt', math.min(expiry, args.oldExpiresAt))
end
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
redis.call('ZADD', keys, args.createdAt, args.id)
if args.isRouter then
  redis.call('SET', routerMarker, args.id, 'NX')
end
return 'created'
