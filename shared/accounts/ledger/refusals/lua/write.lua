-- Writes a batch of refusals: counts and samples. A batch that was written before is not written again. So a writer that did not get the
-- reply may send its batch again.
--
--   <prefix>refusals:<hour or day>   hash: counts by row, see refusal-row.ts; it expires
--   <prefix>refusals:samples-of-…    streams: single refusals, the field `r` is JSON; bounded in number and age
--   <prefix>refusals:batch:<writer>  string that expires: number of the writer's last batch
--
-- ARGV[1]  JSON:
--   prefix      start of all names
--   writer      id of the writer
--   batch       number of the batch, from 1
--   periods     a list of { name, expiresAt (ms since 1970), maxRows, rows }; its rows are { row, substitute, count, key: { id, name } }.
--               Once the period has `maxRows` rows, the counts of a new row with a key are added to its substitute. Other rows have no key.
--   samples     a list of { stream, maxSamples, text }
--   keyNameBounds  see `writeKeyNames` of key-names.lua, which is prepended to this script
--   oldest      samples that were written before this time, in ms since 1970, are removed
--   keptMs      milliseconds for which a stream is kept after its last sample
-- Returns 1, or 0 if the batch was written before.
local args = cjson.decode(ARGV[1])
local prefix = args.prefix .. 'refusals:'

local batch = prefix .. 'batch:' .. args.writer
if tonumber(redis.call('GET', batch) or '0') >= args.batch then
  return 0
end
redis.call('SET', batch, args.batch, 'PX', 86400000)

local keyNames = {}
for _, period in ipairs(args.periods) do
  local name = prefix .. period.name
  local rows = redis.call('HLEN', name)
  for _, addition in ipairs(period.rows) do
    local row = addition.row
    if addition.key and rows >= period.maxRows and redis.call('HEXISTS', name, row) == 0 then
      row = addition.substitute
    elseif addition.key then
      keyNames[addition.key.id] = addition.key.name
    end
    if redis.call('HINCRBY', name, row, addition.count) == addition.count then
      rows = rows + 1
    end
  end
  redis.call('PEXPIREAT', name, period.expiresAt)
end

writeKeyNames(args.prefix, keyNames, args.keyNameBounds)

for _, sample in ipairs(args.samples) do
  local stream = prefix .. sample.stream
  redis.call('XADD', stream, 'MAXLEN', sample.maxSamples, '*', 'r', sample.text)
  redis.call('XTRIM', stream, 'MINID', args.oldest)
  redis.call('PEXPIRE', stream, args.keptMs)
end
return 1
