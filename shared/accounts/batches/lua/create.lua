-- Stores a new batch, unless its owner has too many that are not over.
--
-- ARGV[1]  JSON, besides prefix and id:
--   fields     of the record
--   owner, api, createdAt, expiresAt  as they stand there
--   mostOpen   batches of an owner that are not over
--   keepMs     milliseconds for which a batch is known after it has expired
-- Returns 1, or 0 if there are too many.
local openOf = prefix .. 'batches-open-of:' .. args.owner
if redis.call('EXISTS', record) == 1 then
  return 1
end
-- Those that nobody knows any more were never worked on to their end.
redis.call('ZREMRANGEBYSCORE', openOf, '-inf', whole(now - args.keepMs))
if redis.call('ZCARD', openOf) >= args.mostOpen then
  return 0
end
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
local of = prefix .. 'batches-of:' .. args.api .. ':' .. args.owner
local goneAt = args.expiresAt + args.keepMs
redis.call('PEXPIREAT', record, whole(goneAt))
redis.call('ZREMRANGEBYSCORE', of, '-inf', whole(now - args.keepMs - (args.expiresAt - args.createdAt)))
redis.call('ZADD', of, whole(args.createdAt), args.id)
redis.call('PEXPIREAT', of, whole(goneAt))
redis.call('ZADD', openOf, whole(args.expiresAt), args.id)
redis.call('ZADD', prefix .. 'batches-open', whole(args.expiresAt), args.id)
return 1
