-- Begins a try of a delivery, unless the try has begun already or the delivery has ended. Gives up a delivery whose endpoint must not get
-- it.
--
-- ARGV[1]  JSON:
--   prefix    start of all names
--   id
--   attempts  number of tries that the delivery has had
--   leaseMs   milliseconds after which the try counts as lost
-- Returns the fields of the delivery with their values, and `elapsedMs` since the delivery was sent or last sent again; `given up` and the
-- reason if the delivery was given up; an empty list if there is nothing to send.
local args = cjson.decode(ARGV[1])
local delivery, now = args.prefix .. 'webhook-delivery:' .. args.id, webhooks.now()
local state, attempts, endpoint, since, runningUntil =
  unpack(redis.call('HMGET', delivery, 'state', 'attempts', 'endpoint', 'since', 'runningUntil'))
if state ~= 'pending' or tonumber(attempts) ~= args.attempts or tonumber(runningUntil or 0) > now then
  return {}
end
local refusal = webhooks.refusal(args.prefix, endpoint)
if refusal then
  redis.call('HSET', delivery, 'lastError', refusal)
  webhooks.finish(args.prefix, endpoint, args.id, 'dead', now)
  redis.call('ZREM', args.prefix .. 'webhook-running:' .. endpoint, args.id)
  webhooks.schedule(args.prefix, endpoint, now)
  return { 'given up', refusal }
end
local untilMs = now + args.leaseMs
redis.call('HSET', delivery, 'runningUntil', webhooks.whole(untilMs))
webhooks.lease(args.prefix, endpoint, args.id, untilMs)
webhooks.schedule(args.prefix, endpoint, now)
local fields = redis.call('HGETALL', delivery)
table.insert(fields, 'elapsedMs')
table.insert(fields, webhooks.whole(now - tonumber(since)))
return fields
