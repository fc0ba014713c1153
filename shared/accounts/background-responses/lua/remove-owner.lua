-- Removes the responses of an owner who is gone for good. Those that are being made are not ended.
--
-- ARGV[1]  JSON, besides prefix (`id` is empty):
--   owner
--   most  responses that are removed at most: Redis serves nobody else meanwhile
-- Returns how many may be left.
local left = 0
for _, list in ipairs({ 'background-open-of:', 'background-ended-of:' }) do
  for _, id in ipairs(redis.call('ZRANGE', prefix .. list .. args.owner, 0, args.most - 1)) do
    forget(args.owner, id)
    redis.call('PUBLISH', prefix .. 'background-changes:' .. id, 'over')
  end
  left = left + redis.call('ZCARD', prefix .. list .. args.owner)
end
return left
