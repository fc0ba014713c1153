-- Writes a batch of requests that are over: each by itself, and all into the totals of their days and months. A batch that
-- was written before is left alone, so a writer whose answer was lost may send it again.
--
--   <prefix>usage:requests           stream: single requests, the field `r` is JSON; bounded in number and age
--   <prefix>usage:<day or month>     hash: totals, see totals.ts
--   <prefix>usage:key-names          hash: what each key was called last, by id
--   <prefix>usage:batch:<writer>     string: number of the writer's last batch
--
-- ARGV[1]  prefix of all names
-- ARGV[2]  writer, ARGV[3] number of its batch, counted from 1
-- ARGV[4]  requests that are kept singly, ARGV[5] ms since 1970 of the oldest that may be
-- ARGV[6]  fields that a period may have before new rows are counted under their substitute
-- ARGV[7]  how many requests follow, then the requests
--          how many keys follow, then id and name of each
--          then for each row of totals: period, ms since 1970 when it expires, row, substitute,
--          and its counts in the order of the letters below
-- Returns 1, or 0 when the batch was written before.
local prefix = ARGV[1] .. 'usage:'
local letters = { 'n', 'f', 'x', 'p', 'c', 'o', 'r', '$' }

local batch = prefix .. 'batch:' .. ARGV[2]
if tonumber(redis.call('GET', batch) or '0') >= tonumber(ARGV[3]) then
  return 0
end
redis.call('SET', batch, ARGV[3], 'PX', 86400000)

local requests = prefix .. 'requests'
local next = 8
local last = next + tonumber(ARGV[7]) - 1
for index = next, last do
  redis.call('XADD', requests, 'MAXLEN', '~', ARGV[4], '*', 'r', ARGV[index])
end
redis.call('XTRIM', requests, 'MINID', '~', ARGV[5])

next = last + 2
last = next + tonumber(ARGV[last + 1]) * 2 - 1
for index = next, last, 2 do
  redis.call('HSET', prefix .. 'key-names', ARGV[index], ARGV[index + 1])
end

for from = last + 1, #ARGV, 4 + #letters do
  local period = prefix .. ARGV[from]
  local row = ARGV[from + 2]
  if redis.call('HLEN', period) >= tonumber(ARGV[6]) and redis.call('HEXISTS', period, 'n' .. row) == 0 then
    row = ARGV[from + 3]
  end
  for index, letter in ipairs(letters) do
    local count = ARGV[from + 3 + index]
    if count ~= '0' then
      redis.call('HINCRBY', period, letter .. row, count)
    end
  end
  redis.call('PEXPIREAT', period, ARGV[from + 1])
end
return 1
