-- Removes the things of an owner that no longer exists, the oldest first. From then on, what is still being made for the owner is refused.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   maxVisits     maximum of visits; bounded because Redis serves nobody else meanwhile. A thing takes ten, and one for each item.
--   refusedForMs  milliseconds for which further things are refused
-- Returns how many things of the owner are left.
local visits = 0
redis.call('SET', owned.nameOf('refused', args.owner), '1', 'PX', whole(args.refusedForMs))
while visits < args.maxVisits do
  local oldest = redis.call('ZRANGE', owned.nameOf('by-age', args.owner), 0, 0)[1]
  if not oldest then
    break
  end
  local entry = owned.forget(args.owner, oldest)
  visits = visits + 10 + #(entry and entry.items or {})
end
return redis.call('ZCARD', owned.nameOf('by-age', args.owner))
