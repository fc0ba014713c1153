-- Stands before scripts that end keys.

-- Returns whether a key other than `gone` reads, or may read again, what belongs to `store`: the key stores as that id, is not revoked, and
-- has not expired, or was not replaced, so that its expiry can still be moved.
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

