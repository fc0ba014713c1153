-- This file is prepended to scripts that delete the owner of keys.

-- Removes the keys of an owner from every index. Their records stay for as long as reports name keys.
--
--   keys, keysOfOwner, uses  index of all keys, index of the owner's keys, last uses
--   args  { keyPrefix: start of the names of keys' records; keysKeptMs: milliseconds for which the records stay }
-- Returns false, and changes nothing, if a key is not revoked.
local function forgetKeys(keys, keysOfOwner, uses, args)
  local ids = redis.call('ZRANGE', keysOfOwner, 0, -1)
  for _, id in ipairs(ids) do
    local record = args.keyPrefix .. id
    if redis.call('EXISTS', record) == 1 and redis.call('HEXISTS', record, 'revokedAt') == 0 then
      return false
    end
  end
  for _, id in ipairs(ids) do
    redis.call('PEXPIRE', args.keyPrefix .. id, args.keysKeptMs)
    redis.call('ZREM', keys, id)
    redis.call('HDEL', uses, id)
  end
  redis.call('DEL', keysOfOwner)
  return true
end
