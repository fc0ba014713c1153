-- Sends ended deliveries of an endpoint again, each with its previous id and body.
--
-- ARGV[1]  JSON:
--   prefix    start of all names
--   endpoint
--   ids       ids of the deliveries; absent for all deliveries that were given up
-- Returns how many deliveries were queued again; or 'unknown' or 'disabled' if that is the state of the endpoint.
local args = cjson.decode(ARGV[1])
local prefix, endpoint, now = args.prefix, args.endpoint, webhooks.now()
if redis.call('EXISTS', prefix .. 'webhook:' .. endpoint) == 0 then
  return 'unknown'
end
if redis.call('HEXISTS', prefix .. 'webhook:' .. endpoint, 'disabledAt') == 1 then
  return 'disabled'
end
local count = 0
for _, id in ipairs(args.ids or redis.call('ZRANGE', prefix .. 'webhook-dead:' .. endpoint, 0, -1)) do
  local delivery = prefix .. 'webhook-delivery:' .. id
  local state, ofEndpoint = unpack(redis.call('HMGET', delivery, 'state', 'endpoint'))
  local hasEnded = state == 'dead' or state == 'delivered'
  if ofEndpoint == endpoint and hasEnded and webhooks.queue(prefix, endpoint, id, now) then
    local at = webhooks.whole(now)
    redis.call('ZREM', prefix .. 'webhook-' .. state .. ':' .. endpoint, id)
    redis.call('PERSIST', delivery)
    redis.call('HDEL', delivery, 'endedAt', 'lastAt', 'lastMs', 'lastStatus', 'lastError')
    redis.call('HSET', delivery, 'state', 'pending', 'attempts', 0, 'since', at, 'nextAt', at)
    count = count + 1
  end
end
return count
