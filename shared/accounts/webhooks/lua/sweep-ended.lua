-- Takes deliveries that are kept no longer from the lists of those that have ended: they themselves have expired.
--
-- ARGV[1]  JSON:
--   prefix     of all names
--   endpoints  ids of those whose lists they are
-- Returns how many.
local args = cjson.decode(ARGV[1])
local oldest, count = webhooks.whole(webhooks.now() - keptMs), 0
for _, endpoint in ipairs(args.endpoints) do
  for state in pairs(mostKept) do
    local list = args.prefix .. 'webhook-' .. state .. ':' .. endpoint
    count = count + redis.call('ZREMRANGEBYSCORE', list, '-inf', oldest)
  end
end
return count
