-- This file is prepended to scripts that revoke or remove keys.

-- Returns whether a key other than `removedId` can read the content that is stored under the id `store`, or may be able to later. Such a
-- key stores content under this id and is not revoked. An expired key counts as well, unless it was replaced, because its expiry can still
-- be changed.
local function isStoreRead(store, keyIds, removedId, keyPrefix, now)
  for _, id in ipairs(keyIds) do
    if id ~= removedId then
      local storesAs, kind, revokedAt, expiresAt, replacedBy = unpack(
        redis.call('HMGET', keyPrefix .. id, 'storesAs', 'kind', 'revokedAt', 'expiresAt', 'replacedBy')
      )
      local keyStore = storesAs or (kind == 'router' and id)
      local expiry = tonumber(expiresAt or '')
      local isOver = revokedAt or (replacedBy and expiry and expiry <= now)
      if keyStore == store and not isOver then
        return true
      end
    end
  end
  return false
end

