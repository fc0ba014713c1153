-- What scripts that write into the usage ledger have in common: it stands before each of them.
--
--   <prefix>requests           stream: single requests, the field `r` is JSON; bounded in number and age
--   <prefix><day or month>     hash: totals, see totals.ts
--   <prefix>key-names          hash: each key's name when it was last used, by id

-- Writes requests that are over: each by itself, and all into the totals of their days and months.
--
--   ledger:
--     prefix       of all names
--     maxRequests  requests that are kept singly
--     oldest       when the oldest of them may have been written, ms since 1970
--     maxFields    fields that a period may have before new rows are counted under their substitute
--     keyNames     { id: name }
--     totals       a list of { period, expiresAt (ms since 1970), row, substitute, counts (one for each of the letters below) }
--   first          the place of the first request among ARGV; the others follow
local function writeUsage(ledger, first)
  local letters = { 'n', 'f', 'x', 'p', 'c', 'o', 'r', '$', 'i', 's', 'h', 'w' }
  local requests = ledger.prefix .. 'requests'
  for index = first, #ARGV do
    redis.call('XADD', requests, 'MAXLEN', '~', ledger.maxRequests, '*', 'r', ARGV[index])
  end
  redis.call('XTRIM', requests, 'MINID', '~', ledger.oldest)

  for id, name in pairs(ledger.keyNames) do
    redis.call('HSET', ledger.prefix .. 'key-names', id, name)
  end

  for _, total in ipairs(ledger.totals) do
    local period = ledger.prefix .. total.period
    local row = total.row
    if redis.call('HLEN', period) >= ledger.maxFields and redis.call('HEXISTS', period, 'n' .. row) == 0 then
      row = total.substitute
    end
    for index, letter in ipairs(letters) do
      if total.counts[index] ~= 0 then
        redis.call('HINCRBY', period, letter .. row, total.counts[index])
      end
    end
    redis.call('PEXPIREAT', period, total.expiresAt)
  end
end
