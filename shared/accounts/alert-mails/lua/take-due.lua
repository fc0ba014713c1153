-- Returns due mails to a runner, and makes them due again later.
--
-- ARGV[1]  JSON:
--   prefix   start of all names
--   atOnce   maximum of mails
--   leaseMs  milliseconds after which each mail is due again, unless its try has begun
-- Returns the id of each mail, and the number of tries that it has had.
local args = cjson.decode(ARGV[1])
local due, now = args.prefix .. 'alert-mails-due', webhooks.now()
local taken = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', webhooks.whole(now), 'LIMIT', 0, args.atOnce)) do
  local attempts = redis.call('HGET', args.prefix .. 'alert-mail:' .. id, 'attempts')
  if attempts then
    redis.call('ZADD', due, webhooks.whole(now + args.leaseMs), id)
    table.insert(taken, id)
    table.insert(taken, attempts)
  else
    redis.call('ZREM', due, id)
  end
end
return taken
