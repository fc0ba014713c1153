-- Removes the responses of an owner that no longer exists. Unfinished responses are removed without being ended.
--
-- ARGV[1]  JSON, besides prefix (`id` is empty):
--   owner
--   maxRemoved  maximum number of unfinished responses, and of responses that are over, to remove; bounded because Redis serves
--               nobody else meanwhile
-- Returns how many responses of the owner may be left.
local left = 0
for _, list in ipairs({ 'background-open-of:', 'background-ended-of:' }) do
  for _, id in ipairs(redis.call('ZRANGE', prefix .. list .. args.owner, 0, args.maxRemoved - 1)) do
    forget(args.owner, id)
    redis.call('PUBLISH', prefix .. 'background-changes:' .. id, 'over')
  end
  left = left + redis.call('ZCARD', prefix .. list .. args.owner)
end
return left
