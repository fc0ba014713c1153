-- Removes a batch that is over. A batch that still holds objects stays in `batches-open`, where the sweep finds it.
--
-- ARGV[1]  JSON: prefix and id
-- Returns 1, or 0 if the batch is unfinished or unknown.
local state = field('state')
if state ~= 'ended' and state ~= 'failed' then
  return 0
end
local ofOwner = field('api') .. ':' .. field('owner')
local createdAt = redis.call('ZSCORE', prefix .. 'batches-of:' .. ofOwner, args.id)
if createdAt then
  redis.call('SET', prefix .. 'batch-place:' .. ofOwner .. ':' .. args.id, createdAt, 'PX', 86400000)
end
redis.call('ZREM', prefix .. 'batches-of:' .. ofOwner, args.id)
redis.call('ZREM', prefix .. 'batches-open-of:' .. field('owner'), args.id)
redis.call('DEL', record, nameOf('errors'))
return 1
