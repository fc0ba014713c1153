-- Gives due mails to a runner, a few to each recipient, and makes them due again later.
--
-- ARGV[1]  JSON:
--   prefix   start of all names
--   atOnce   maximum number of mails
--   leaseMs  milliseconds after which each mail is due again, unless its try has begun
-- Returns the id of each mail, and the number of tries that it has had.
local args = cjson.decode(ARGV[1])
local due, now = args.prefix .. 'alert-mails-due', webhooks.now()
local taken = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', webhooks.whole(now), 'LIMIT', 0, args.atOnce)) do
  local attempts, to = unpack(redis.call('HMGET', args.prefix .. 'alert-mail:' .. id, 'attempts', 'to'))
  if not attempts then
    redis.call('ZREM', due, id)
  elseif mails.take(args.prefix, id, to, now, now + args.leaseMs) then
    table.insert(taken, id)
    table.insert(taken, attempts)
  end
end
return taken
