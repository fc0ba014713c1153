-- Writes a batch of finished requests. A batch that was written before is left alone, so a writer whose reply was lost may send it again.
--
--   <prefix>batch:<writer>     string: number of the writer's last batch
--
-- ARGV[1]  JSON, besides what `writeUsage` takes:
--   writer
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
