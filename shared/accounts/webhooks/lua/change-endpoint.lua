-- Changes fields of an endpoint.
--
-- ARGV[1]  JSON:
--   prefix   start of all names
--   id
--   removed  names of fields to remove
--   fields   fields to set
-- Returns 1, or 0 when there is no such endpoint.
local args = cjson.decode(ARGV[1])
local endpoint = args.prefix .. 'webhook:' .. args.id
if redis.call('EXISTS', endpoint) == 0 then
  return 0
end
for _, name in ipairs(args.removed) do
  redis.call('HDEL', endpoint, name)
end
for name, value in pairs(args.fields) do
  redis.call('HSET', endpoint, name, value)
end
return 1
