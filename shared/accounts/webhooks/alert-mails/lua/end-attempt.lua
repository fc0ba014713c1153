-- Ends a try to send a mail.
--
-- ARGV[1]  JSON:
--   prefix    start of all names
--   id
--   attempts  number of tries that the mail had before this one
--   delayMs   milliseconds until the next try; absent if the mail was sent or is given up
--   counts    whether to count this try; false if the process returned the mail without a try
-- Returns 1, or 0 if the try had ended already.
local args = cjson.decode(ARGV[1])
local mail = args.prefix .. 'alert-mail:' .. args.id
if tonumber(redis.call('HGET', mail, 'attempts') or -1) ~= args.attempts then
  return 0
end
if not args.delayMs then
  mails.remove(args.prefix, args.id)
  return 1
end
if args.counts then
  redis.call('HINCRBY', mail, 'attempts', 1)
end
mails.postpone(args.prefix, args.id, webhooks.now() + args.delayMs)
return 1
