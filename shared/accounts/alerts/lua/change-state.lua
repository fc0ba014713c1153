-- Changes the last reported states of one kind and emits an event with the change, unless a state is not the expected one: somebody else
-- has reported it meanwhile. `emit.lua` of the webhooks and `mails.lua` stand before it.
--
--   <prefix>alerts:<kind>   hash: each reported field of that kind, with its state
--
-- ARGV[1]  JSON:
--   prefix     of all names
--   kind
--   changes    a list, each with:
--     field
--     from     the state that it must have; absent for none
--     to       the state that it gets; absent for none
--   expiresAt  when the whole hash expires, ms since 1970; absent: never
--   event      as for `webhooks.emit`; absent for none
--   mailTo     owners whose recipients are mailed the event; absent for none
-- Returns 1, or 0 if a state is not the expected one.
local args = cjson.decode(ARGV[1])
local name = args.prefix .. 'alerts:' .. args.kind
for _, change in ipairs(args.changes) do
  local before = redis.call('HGET', name, change.field) or nil
  if before ~= change.from then
    return 0
  end
end
for _, change in ipairs(args.changes) do
  if change.to then
    redis.call('HSET', name, change.field, change.to)
  else
    redis.call('HDEL', name, change.field)
  end
end
if args.expiresAt then
  redis.call('PEXPIREAT', name, webhooks.whole(args.expiresAt))
end
if args.event then
  webhooks.emit(args.prefix, args.event)
  if args.mailTo then
    mails.send(args.prefix, args.event, args.mailTo)
  end
end
return 1
