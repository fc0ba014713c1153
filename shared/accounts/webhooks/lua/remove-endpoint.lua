-- Removes an endpoint and all its deliveries.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
--   id
-- Returns 1, or 0 when there is no such endpoint.
local args = cjson.decode(ARGV[1])
local prefix, id = args.prefix, args.id
local owner = redis.call('HGET', prefix .. 'webhook:' .. id, 'owner')
if not owner then
  return 0
end
for _, kind in ipairs({ 'pending', 'delivered', 'dead' }) do
  local list = prefix .. 'webhook-' .. kind .. ':' .. id
  for _, delivery in ipairs(redis.call('ZRANGE', list, 0, -1)) do
    redis.call('DEL', prefix .. 'webhook-delivery:' .. delivery)
  end
  redis.call('DEL', list)
end
redis.call('DEL', prefix .. 'webhook:' .. id, prefix .. 'webhook-running:' .. id)
redis.call('ZREM', prefix .. 'webhooks-of:' .. owner, id)
redis.call('ZREM', prefix .. 'webhooks', id)
redis.call('ZREM', prefix .. 'webhook-due', id)
return 1
