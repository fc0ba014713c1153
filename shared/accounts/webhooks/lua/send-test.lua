-- Sends a test event to one endpoint, with a single try.
--
-- ARGV[1]  JSON:
--   prefix    start of all names
--   endpoint
--   event     as for `webhooks.send`
-- Returns the delivery's id, or nil when there is no such endpoint.
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', args.prefix .. 'webhook:' .. args.endpoint) == 0 then
  return nil
end
return webhooks.send(args.prefix, args.endpoint, args.event, webhooks.now())
