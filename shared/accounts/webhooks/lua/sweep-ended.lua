-- Removes deliveries that are no longer kept from the lists of ended deliveries. Their records have expired already.
--
-- ARGV[1]  JSON:
--   prefix     start of all names
--   endpoints  ids of the endpoints whose lists to sweep
-- Returns how many entries were removed.
local args = cjson.decode(ARGV[1])
local oldest, count = webhooks.whole(webhooks.now() - keptMs), 0
for _, endpoint in ipairs(args.endpoints) do
  for state in pairs(maxKept) do
    local list = args.prefix .. 'webhook-' .. state .. ':' .. endpoint
    count = count + redis.call('ZREMRANGEBYSCORE', list, '-inf', oldest)
  end
end
return count
