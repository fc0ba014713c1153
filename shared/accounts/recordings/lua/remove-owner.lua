-- Removes the recordings of an owner that no longer exists.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   max  maximum of recordings to remove; bounded because Redis serves nobody else meanwhile
-- Returns how many recordings of the owner are left.
local entries = base .. 'entries-of:' .. args.owner
for _, id in ipairs(redis.call('HRANDFIELD', entries, args.max)) do
  forget(args.owner, id)
end
return redis.call('HLEN', entries)
