-- Ends a slice whose results are in objects, once. Lines that were not run get their outcome with it.
--
-- ARGV[1]  JSON, besides prefix and id:
--   slice      its number
--   recorded   how many results the objects have of lines that were run
--   cancelled, expired  how many they have of lines that were not
-- ARGV[2]  JSON: the objects
-- Returns 1; 0 if it was over before, or the batch is not running; -1 if there are results that the objects have not.
local done = nameOf('done')
if field('state') ~= 'running' or redis.call('HEXISTS', done, args.slice) == 1 then
  return 0
end
if redis.call('HLEN', resultsOf(args.slice)) ~= args.recorded then
  return -1
end
redis.call('HSET', done, args.slice, ARGV[2])
keepWithRecord(done)
redis.call('HINCRBY', record, 'cancelled', args.cancelled)
redis.call('HINCRBY', record, 'expired', args.expired)
redis.call('HINCRBY', record, 'slicesLeft', -1)
redis.call('DEL', resultsOf(args.slice))
return 1
