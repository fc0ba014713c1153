-- Removes the recordings of an owner who is gone for good.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   most  recordings that are removed at most: Redis serves nobody else meanwhile
-- Returns how many are left.
local entries = base .. 'entries-of:' .. args.owner
for _, id in ipairs(redis.call('HRANDFIELD', entries, args.most)) do
  forget(args.owner, id)
end
return redis.call('HLEN', entries)
