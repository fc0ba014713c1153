-- Revokes a key. The first revocation counts: its time is kept when the key is revoked again. Goes on where `is-store-read.lua` ends.
--
-- KEYS[1]  record of the key (hash)
-- KEYS[2]  index of the keys of its owner (sorted set: id by creation time); unused for a router key
-- ARGV[1]  JSON:
--   id
--   now        ms since 1970
--   isOwned    whether the key has an owner
--   keyPrefix  of the names of keys' records
-- Returns a list: 1 when the key is revoked now, 0 when it was revoked before, -1 when there is no such key; then the ids under which the
-- key, the keys that it replaced and those that replaced it store for themselves, as far as nobody can read that any more.
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
