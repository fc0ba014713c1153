-- Returns objects without a record, for their removal. No other caller gets them for a while.
--
-- ARGV[1]  JSON, besides prefix:
--   most     maximum of objects
--   againMs  milliseconds until the objects are returned again, unless they are removed by then
expire()
local name = prefix .. 'file-removals'
local objects = redis.call('ZRANGEBYSCORE', name, '-inf', whole(now), 'LIMIT', 0, args.most)
for _, object in ipairs(objects) do
  endUpload(object)
  mayBeRemovedAt(object, now + args.againMs)
end
return objects
