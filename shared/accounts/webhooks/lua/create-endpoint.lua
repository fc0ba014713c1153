-- Stores a new endpoint, if its owner exists and does not have too many endpoints.
--
-- ARGV[1]  JSON:
--   prefix       start of all names
--   id
--   owner        `user:<id>`, `team:<id>` or `router`
--   createdAt    ms since 1970
--   maxPerOwner  maximum number of endpoints of an owner
--   fields       fields of the record
-- Returns 'created', 'no owner' or 'too many'.
local args = cjson.decode(ARGV[1])
local ofOwner = args.prefix .. 'webhooks-of:' .. args.owner
if not webhooks.hasAccess(args.prefix, args.owner) then
  return 'no owner'
end
if redis.call('ZCARD', ofOwner) >= args.maxPerOwner then
  return 'too many'
end
for name, value in pairs(args.fields) do
  redis.call('HSET', args.prefix .. 'webhook:' .. args.id, name, value)
end
redis.call('ZADD', ofOwner, webhooks.whole(args.createdAt), args.id)
redis.call('ZADD', args.prefix .. 'webhooks', webhooks.whole(args.createdAt), args.id)
return 'created'
