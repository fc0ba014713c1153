-- Emits an event that no script has stored with a change.
--
-- ARGV[1]  JSON:
--   prefix  of all names
--   event   as for `webhooks.emit`
-- Returns the number of endpoints that get it.
local args = cjson.decode(ARGV[1])
return webhooks.emit(args.prefix, args.event)
