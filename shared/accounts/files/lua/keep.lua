-- Makes a file of an upload that is complete.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   object     of the upload
--   id         of the file
--   purpose
--   bytes      of the file
--   expiresAt  absent for a file that does not expire
-- ARGV[2]  the record, as JSON
-- Returns 1, or 0 if the upload counts as dead or its owner is gone.
local owner, id = args.owner, args.id
if redis.call('EXISTS', prefix .. 'files-refused:' .. owner) == 1 or not endUpload(args.object) then
  return 0
end
redis.call('ZREM', prefix .. 'file-removals', args.object)
count(owner, args.bytes)
local number = redis.call('INCR', prefix .. 'file-number')
redis.call('HSET', recordsOf(owner), id, ARGV[2])
redis.call('ZADD', byAge(owner), number, id)
redis.call('ZADD', byAge(owner, args.purpose), number, id)
if args.expiresAt then
  redis.call('ZADD', prefix .. 'file-expiries', whole(args.expiresAt), owner .. ' ' .. id)
end
return 1
