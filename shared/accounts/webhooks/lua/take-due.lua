-- Gives due deliveries to a runner, a few of each endpoint, and makes them due again later. The endpoint that has waited longest comes
-- first.
--
-- ARGV[1]  JSON:
--   prefix   start of all names
--   atOnce   maximum number of deliveries
--   leaseMs  milliseconds after which each delivery is due again, unless its try has begun
-- Returns the id of each delivery, and the number of tries that it has had.
local args = cjson.decode(ARGV[1])
local prefix, now = args.prefix, webhooks.now()
local taken = {}
while #taken < 2 * args.atOnce do
  local endpoint = redis.call('ZRANGEBYSCORE', prefix .. 'webhook-due', '-inf', webhooks.whole(now), 'LIMIT', 0, 1)[1]
  if not endpoint then
    break
  end
  local pending = prefix .. 'webhook-pending:' .. endpoint
  local id = redis.call('ZRANGEBYSCORE', pending, '-inf', webhooks.whole(now), 'LIMIT', 0, 1)[1]
  local attempts = id and redis.call('HGET', prefix .. 'webhook-delivery:' .. id, 'attempts')
  if attempts then
    webhooks.lease(prefix, endpoint, id, now + args.leaseMs)
    table.insert(taken, id)
    table.insert(taken, attempts)
  elseif id then
    redis.call('ZREM', pending, id)
  end
  webhooks.schedule(prefix, endpoint, now)
end
return taken
