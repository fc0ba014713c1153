-- Records the result of a line, once. Writes the result itself, the counts of the batch, and the requests of the line in the usage ledger.
-- If the line has a result already, or its slice is over, nothing is written. A call that is repeated with the same text, because the first
-- reply was lost, returns the outcome of the first call. If the result is in an object, the batch holds the object from then on.
-- `files.lua` is also prepended to this script.
--
-- ARGV[1]  JSON, besides prefix and id:
--   slice    number of the slice
--   line     number of the line in the slice
--   outcome  `succeeded` or `errored`
--   error    { code, line } of a line with an error
--   part     { object, bytes } of the upload that the result is in; absent if the result is in ARGV[2]
--   usage    { name of a count of the record: the number to add }
--   ledger   see `writeUsage`
-- ARGV[2]  the result, sealed; or JSON that names the object with the result
-- ARGV[3…]  the requests, for `writeUsage`
-- Returns 1 if this is the result of the line; 0 if the line has another result, or its slice is over; -1 if the upload counts as dead.
local results = resultsOf(args.slice)
if field('state') ~= 'running' or redis.call('HEXISTS', nameOf('done'), args.slice) == 1 then
  return 0
end
local recorded = redis.call('HGET', results, args.line)
if recorded then
  -- Results of different runners never have the same text, because each text has a random token or names an object.
  return recorded == ARGV[2] and 1 or 0
end
local part = args.part
if part and not uploadOf(part.object) then
  return -1
end
redis.call('HSET', results, args.line, ARGV[2])
if part then
  holdUpload(part.object, part.bytes)
  redis.call('SADD', nameOf('held'), part.object)
end
keepWithRecord(results)
redis.call('HINCRBY', record, args.outcome, 1)
redis.call('HSET', record, 'lineAt', whole(now))
local errors = nameOf('errors')
if args.error and redis.call('LLEN', errors) < 20 then
  redis.call('RPUSH', errors, cjson.encode(args.error))
  keepWithRecord(errors)
end
for name, count in pairs(args.usage) do
  if count > 0 then
    redis.call('HINCRBY', record, name, whole(count))
  end
end
writeUsage(args.ledger, 3)
return 1
