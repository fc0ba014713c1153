-- Revokes a key. If the key is revoked again, the time of the first revocation stays. `is-store-read.lua` is prepended to this script.
--
-- KEYS[1]  record of the key (hash)
-- KEYS[2]  index of the keys of its owner (sorted set: id by creation time); unused for a router key
-- ARGV[1]  JSON:
--   id
--   now        ms since 1970
--   isOwned    whether the key has an owner
--   keyPrefix  start of the names of keys' records
-- Returns a list. The first element is 1 if the key is revoked now, 0 if it was revoked before, -1 if there is no such key. The other
-- elements are the ids whose stored content no key can read any more. Each is an id under which this key, a key that it replaced or a key
-- that replaced it stores content in place of an owner.
local record, keysOfOwner = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', record) == 0 then
  return { -1 }
end
local outcome = { redis.call('HSETNX', record, 'revokedAt', args.now) }

local first = redis.call('HGET', record, 'countedAs') or args.id
local keyIds = {}
if args.isOwned then
  keyIds = redis.call('ZRANGE', keysOfOwner, 0, -1)
else
  local id = first
  while id do
    keyIds[#keyIds + 1] = id
    id = redis.call('HGET', args.keyPrefix .. id, 'replacedBy')
  end
end
local seen = {}
for _, id in ipairs(keyIds) do
  local storesAs, countedAs = unpack(redis.call('HMGET', args.keyPrefix .. id, 'storesAs', 'countedAs'))
  local store = storesAs or (not args.isOwned and id)
  if store and (countedAs or id) == first and not seen[store] then
    seen[store] = true
    if not isStoreRead(store, keyIds, args.id, args.keyPrefix, args.now) then
      outcome[#outcome + 1] = store
    end
  end
end
return outcome
