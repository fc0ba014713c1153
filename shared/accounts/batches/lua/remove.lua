-- Removes a batch that is over. A batch that still holds objects stays in `batches-open`, so that the job that ends it, or the sweep,
-- releases them. `pages.lua` is prepended to this script.
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
  pages.noteRemoved(prefix .. 'batch-places:' .. ofOwner, args.id, createdAt)
end
redis.call('ZREM', prefix .. 'batches-of:' .. ofOwner, args.id)
redis.call('ZREM', prefix .. 'batches-open-of:' .. field('owner'), args.id)
redis.call('DEL', record, nameOf('errors'))
return 1
