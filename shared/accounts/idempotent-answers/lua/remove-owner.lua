-- Removes the keys of an owner that no longer exists. Executions go on for their clients.
--
-- ARGV[1]  JSON, besides prefix and owner (`id` is empty):
--   most  maximum of keys to remove; bounded because Redis serves nobody else meanwhile
-- Returns how many keys of the owner are left.
local known = prefix .. 'idempotent-bytes-of:' .. owner
for _, each in ipairs(redis.call('HRANDFIELD', known, args.most)) do
  forget(owner, each)
end
return redis.call('HLEN', known)
