-- Forgets the keys of an owner who is gone for good. Executions go on for their clients.
--
-- ARGV[1]  JSON, besides prefix and owner (`id` is empty):
--   most  keys that are forgotten at most: Redis serves nobody else meanwhile
-- Returns how many are left.
local known = prefix .. 'idempotent-bytes-of:' .. owner
for _, each in ipairs(redis.call('HRANDFIELD', known, args.most)) do
  forget(owner, each)
end
return redis.call('HLEN', known)
