-- Ends a slice once all its results are in objects, and counts its lines that were cancelled or expired. From then on, the batch holds the
-- objects. A slice ends once. `files.lua` is also prepended to this script.
--
-- ARGV[1]  JSON, besides prefix and id:
--   slice      number of the slice
--   recorded   how many recorded results are in the objects
--   cancelled, expired  how many lines of the objects were cancelled or expired instead
--   fields     other fields of the batch's record that change with the end of the slice
--   parts      { object, bytes } of each upload among the objects
-- ARGV[2]  JSON: the names of all objects with the slice's results, including objects of single lines, which the batch holds already
-- Returns 1; 0 if the slice was over before, or the batch is not running; -1 if results were recorded that the objects lack; -2 if an
-- upload counts as dead.
local done = nameOf('done')
if field('state') ~= 'running' or redis.call('HEXISTS', done, args.slice) == 1 then
  return 0
end
if redis.call('HLEN', resultsOf(args.slice)) ~= args.recorded then
  return -1
end
for _, part in ipairs(args.parts) do
  if not uploadOf(part.object) then
    return -2
  end
end
for _, part in ipairs(args.parts) do
  holdUpload(part.object, part.bytes)
  redis.call('SADD', nameOf('held'), part.object)
end
redis.call('HSET', done, args.slice, ARGV[2])
keepWithRecord(done)
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
redis.call('HINCRBY', record, 'cancelled', args.cancelled)
redis.call('HINCRBY', record, 'expired', args.expired)
redis.call('HINCRBY', record, 'slicesLeft', -1)
redis.call('DEL', resultsOf(args.slice))
return 1
