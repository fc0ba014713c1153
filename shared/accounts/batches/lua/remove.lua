-- Removes a batch that is over. Where its objects are still to be removed, it stays among those that are open, and is swept.
--
-- ARGV[1]  JSON: prefix and id
-- Returns 1, or 0 if it is not over, or unknown.
local state = field('state')
if state ~= 'ended' and state ~= 'failed' then
  return 0
end
redis.call('ZREM', prefix .. 'batches-of:' .. field('api') .. ':' .. field('owner'), args.id)
redis.call('ZREM', prefix .. 'batches-open-of:' .. field('owner'), args.id)
redis.call('DEL', record, nameOf('errors'))
return 1
