-- Writes a batch of requests that are over: each by itself, and all into the totals of their days and months. A batch that
-- was written before is left alone, so a writer whose answer was lost may send it again.
--
--   <prefix>requests           stream: single requests, the field `r` is JSON; bounded in number and age
--   <prefix><day or month>     hash: totals, see totals.ts
--   <prefix>key-names          hash: each key's name when it was last used, by id
--   <prefix>batch:<writer>     string: number of the writer's last batch
--
-- ARGV[1]  JSON:
--   prefix       of all names
--   writer
--   batch        its number, counted from 1
--   maxRequests  requests that are kept singly
--   oldest       when the oldest of them may have been written, ms since 1970
--   maxFields    fields that a period may have before new rows are counted under their substitute
--   keyNames     { id: name }
--   totals       a list of { period, expiresAt (ms since 1970), row, substitute, counts (one for each of the letters below) }
-- ARGV[2…]  the requests
-- Returns 1, or 0 when the batch was written before.
local args = cjson.decode(ARGV[1])
local prefix = args.prefix
local letters = { 'n', 'f', 'x', 'p', 'c', 'o', 'r', '$' }

local batch = prefix .. 'batch:' .. args.writer
if tonumber(redis.call('GET', batch) or '0') >= args.batch then
  return 0
end
redis.call('SET', batch, args.batch, 'PX', 86400000)

local requests = prefix .. 'requests'
for index = 2, #ARGV do
  redis.call('XADD', requests, 'MAXLEN', '~', args.maxRequests, '*', 'r', ARGV[index])
end
redis.call('XTRIM', requests, 'MINID', '~', args.oldest)

for id, name in pairs(args.keyNames) do
  redis.call('HSET', prefix .. 'key-names', id, name)
end

for _, total in ipairs(args.totals) do
  local period = prefix .. total.period
  local row = total.row
  if redis.call('HLEN', period) >= args.maxFields and redis.call('HEXISTS', period, 'n' .. row) == 0 then
    row = total.substitute
  end
  for index, letter in ipairs(letters) do
    if total.counts[index] ~= 0 then
      redis.call('HINCRBY', period, letter .. row, total.counts[index])
    end
  end
  redis.call('PEXPIREAT', period, total.expiresAt)
end
return 1
