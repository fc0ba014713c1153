-- Ends a try of a delivery.
--
-- ARGV[1]  JSON:
--   prefix    start of all names
--   id
--   attempts  number of tries that the delivery had before this one
--   state     'delivered', 'dead', or 'pending' for a delivery to be tried again
--   delayMs   milliseconds until the next try
--   counts    whether to count this try; false if the process returned the delivery without a try
--   status    HTTP status of the answer; absent if there was none
--   error     the reason of a failure; absent if the try did not fail
--   ms        duration of the try
--   disables  why to disable the endpoint; absent if it stays enabled
-- Returns 1, or 0 when the try had ended already.
local args = cjson.decode(ARGV[1])
local prefix, now = args.prefix, webhooks.now()
local delivery = prefix .. 'webhook-delivery:' .. args.id
local state, attempts, endpoint = unpack(redis.call('HMGET', delivery, 'state', 'attempts', 'endpoint'))
if state ~= 'pending' or tonumber(attempts) ~= args.attempts then
  return 0
end
redis.call('HDEL', delivery, 'runningUntil')
redis.call('ZREM', prefix .. 'webhook-running:' .. endpoint, args.id)
if args.counts then
  redis.call('HDEL', delivery, 'lastStatus', 'lastError')
  redis.call('HINCRBY', delivery, 'attempts', 1)
  redis.call('HSET', delivery, 'lastAt', webhooks.whole(now), 'lastMs', webhooks.whole(args.ms))
  for name, value in pairs({ lastStatus = args.status, lastError = args.error }) do
    redis.call('HSET', delivery, name, value)
  end
end
if args.state == 'pending' then
  local at = webhooks.whole(now + args.delayMs)
  redis.call('HSET', delivery, 'nextAt', at)
  redis.call('ZADD', prefix .. 'webhook-pending:' .. endpoint, at, args.id)
else
  webhooks.finish(prefix, endpoint, args.id, args.state, now)
end
if args.disables and redis.call('EXISTS', prefix .. 'webhook:' .. endpoint) == 1 then
  redis.call('HSET', prefix .. 'webhook:' .. endpoint, 'disabledAt', webhooks.whole(now), 'disabledReason', args.disables)
end
webhooks.schedule(prefix, endpoint, now)
return 1
