-- Begins a try to send a mail, unless the try has begun already, or the mail was sent or given up. Removes a mail to a person who is
-- deleted or blocked, or has switched alerts off.
--
-- ARGV[1]  JSON:
--   prefix    start of all names
--   id
--   attempts  number of tries that the mail has had
--   leaseMs   milliseconds after which the try counts as lost
-- Returns the fields of the mail with their values, `address`, and `elapsedMs` since the mail was made; an empty list if there is nothing
-- to send.
local args = cjson.decode(ARGV[1])
local mail, now = args.prefix .. 'alert-mail:' .. args.id, webhooks.now()
local attempts, to, createdAt, runningUntil = unpack(redis.call('HMGET', mail, 'attempts', 'to', 'createdAt', 'runningUntil'))
if tonumber(attempts or -1) ~= args.attempts or tonumber(runningUntil or 0) > now then
  return {}
end
local address = string.match(to, '^address:(.*)$')
if not address and mails.wantsAlerts(args.prefix, to) then
  address = redis.call('HGET', args.prefix .. to, 'email')
end
if not address then
  mails.remove(args.prefix, args.id)
  return {}
end
local untilMs = webhooks.whole(now + args.leaseMs)
redis.call('HSET', mail, 'runningUntil', untilMs, 'takenUntil', untilMs)
redis.call('ZADD', args.prefix .. 'alert-mails-due', untilMs, args.id)
local fields = redis.call('HGETALL', mail)
for _, text in ipairs({ 'address', address, 'elapsedMs', webhooks.whole(now - tonumber(createdAt)) }) do
  table.insert(fields, text)
end
return fields
