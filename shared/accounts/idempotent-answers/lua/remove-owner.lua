-- Removes the keys of an owner that no longer exists. Their executions go on for their clients.
--
-- ARGV[1]  JSON, besides prefix and owner (`id` is empty):
--   max  maximum of keys to remove; bounded because Redis serves nobody else meanwhile
-- Returns how many keys of the owner are left.
local bytesByKey = prefix .. 'idempotent-bytes-of:' .. owner
for _, keyId in ipairs(redis.call('HRANDFIELD', bytesByKey, args.max)) do
  forget(owner, keyId)
end
return redis.call('HLEN', bytesByKey)
