-- Removes what a batch no longer needs when it is over: its slices, and its entries among unfinished batches. Is called once the batch
-- holds no objects.
--
-- ARGV[1]  JSON: prefix and id
-- Returns 1, or 0 if the batch is not over.
local state, owner = field('state'), field('owner')
if state ~= 'ended' and state ~= 'failed' then
  return 0
end
redis.call('ZREM', prefix .. 'batches-open', args.id)
redis.call('ZREM', prefix .. 'batches-open-of:' .. owner, args.id)
redis.call('DEL', nameOf('slices'), nameOf('done'))
return 1
