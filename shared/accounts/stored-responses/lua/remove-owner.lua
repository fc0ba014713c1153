-- Removes the responses of an owner that no longer exists, oldest first. From then on, responses of requests that still run are refused.
--
-- ARGV[1]  JSON, besides prefix and owner:
--   maxVisits     maximum of responses and items to visit; bounded because Redis serves nobody else meanwhile
--   refusedForMs  milliseconds for which further responses are refused
-- Returns how many responses of the owner are left.
local visits = 0
redis.call('SET', nameOf('refused', args.owner), '1', 'PX', whole(args.refusedForMs))
while visits < args.maxVisits do
  local oldest = redis.call('ZRANGE', nameOf('by-age', args.owner), 0, 0)[1]
  if not oldest then
    break
  end
  local entry = readEntry(args.owner, oldest)
  visits = visits + 1 + (entry and #entry.items or 0)
  forget(args.owner, oldest)
end
return redis.call('ZCARD', nameOf('by-age', args.owner))
