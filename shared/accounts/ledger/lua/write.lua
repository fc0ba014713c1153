-- Writes a batch of finished requests, unless the batch was written before. So a writer that did not get the reply may send its batch
-- again.
--
--   <prefix>batch:<writer>     string: number of the writer's last batch
--
-- ARGV[1]  JSON, besides the fields of `ledger` for `writeUsage`:
--   writer       id of the writer
--   batch        number of the batch, from 1
-- ARGV[2…]  the requests
-- Returns 1, or 0 when the batch was written before.
local args = cjson.decode(ARGV[1])

local batch = args.prefix .. 'batch:' .. args.writer
if tonumber(redis.call('GET', batch) or '0') >= args.batch then
  return 0
end
redis.call('SET', batch, args.batch, 'PX', 86400000)
writeUsage(args, 2)
return 1
