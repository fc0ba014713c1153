-- Ends a slice whose results are in objects, once. Lines that were not run get their outcome with it. The batch holds the objects from
-- then on. `files.lua` stands before it, too.
--
-- ARGV[1]  JSON, besides prefix and id:
--   slice      its number
--   recorded   how many results the objects have of lines that were run
--   cancelled, expired  how many they have of lines that were not
--   fields     of the record that change with it
--   parts      { object, bytes } of each of the objects, which are uploads
-- ARGV[2]  JSON: the names of all objects with its results, those of lines included, which the batch holds already
-- Returns 1; 0 if it was over before, or the batch is not running; -1 if there are results that the objects have not; -2 if an upload
-- counts as dead.
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
