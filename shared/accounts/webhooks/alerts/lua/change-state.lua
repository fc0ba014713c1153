-- Changes the last reported states of one kind and emits an event with the change. Does nothing if a state is not the expected one, because
-- another runner has reported the change meanwhile. `emit.lua` of the webhooks and `mails.lua` are prepended to this script.
--
--   <prefix>alerts:<kind>   hash: each reported field of that kind, with its state
--
-- ARGV[1]  JSON:
--   prefix     start of all names
--   kind
--   changes    a list, each with:
--     field
--     from     the state that the field must have; absent if it must have no state
--     to       the state that the field gets; absent to remove the field
--   expiresAt  when the whole hash expires, ms since 1970; absent to set no expiry
--   event      as for `webhooks.emit`; absent to emit no event
--   mailTo     owners to whose recipients the event is mailed; absent to send no mails
--   mailSource  source of the event, as for `mails.send`; absent if it has none
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
    mails.send(args.prefix, args.event, args.mailTo, args.mailSource)
  end
end
return 1
