-- Stands before scripts that revoke or remove keys.

-- Returns whether a key other than `gone` can read what belongs to the id `store`, or may be able to later. Such a key stores under that id
-- and is not revoked. A key that has expired counts as well, unless it was replaced, because its expiry can still be changed.
local function isStoreRead(store, keyIds, gone, keyPrefix, now)
  for _, id in ipairs(keyIds) do
    if id ~= gone then
      local storesAs, kind, revokedAt, expiresAt, replacedBy = unpack(
        redis.call('HMGET', keyPrefix .. id, 'storesAs', 'kind', 'revokedAt', 'expiresAt', 'replacedBy')
      )
      local own = storesAs or (kind == 'router' and id)
      local expiry = tonumber(expiresAt or '')
      local isOver = revokedAt or (replacedBy and expiry and expiry <= now)
      if own == store and not isOver then
        return true
      end
    end
  end
  return false
end

