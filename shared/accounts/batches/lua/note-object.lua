-- Notes the name of an object that is begun for a batch. It is noted also for a batch that is closed or unknown, where someone works
-- on it still: the batch is among those that are open again, so that the object is removed.
--
-- ARGV[1]  JSON, besides prefix and id:
--   object  its name
-- Returns 1.
local objects = nameOf('objects')
redis.call('SADD', objects, args.object)
redis.call('PERSIST', objects)
redis.call('ZADD', prefix .. 'batches-open', 'NX', field('expiresAt') or whole(now), args.id)
return 1
