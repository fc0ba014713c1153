-- Returns objects without a record, for their removal. No other caller gets the same objects for a while.
--
-- ARGV[1]  JSON, besides prefix:
--   maxObjects  maximum of objects
--   againMs     milliseconds after which the objects may be returned again, if they are not removed by then
owned.sweep()
local name = prefix .. 'file-removals'
local objects = redis.call('ZRANGEBYSCORE', name, '-inf', whole(now), 'LIMIT', 0, args.maxObjects)
for _, object in ipairs(objects) do
  endUpload(object)
  scheduleRemoval(object, now + args.againMs)
end
return objects
