-- Emits an event that no other script stores together with a change.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
--   event   as for `webhooks.emit`
-- Returns the number of endpoints that get the event.
local args = cjson.decode(ARGV[1])
return webhooks.emit(args.prefix, args.event)
