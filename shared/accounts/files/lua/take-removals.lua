-- Returns objects that no record has, for their removal. Nobody else gets them for a while.
--
-- ARGV[1]  JSON, besides prefix:
--   most     objects at once
--   againMs  milliseconds until they are returned again, unless they were removed
expire()
local name = prefix .. 'file-removals'
local objects = redis.call('ZRANGEBYSCORE', name, '-inf', whole(now), 'LIMIT', 0, args.most)
for _, object in ipairs(objects) do
  endUpload(object)
  mayBeRemovedAt(object, now + args.againMs)
end
return objects
