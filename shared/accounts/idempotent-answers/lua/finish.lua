-- Ends an execution and adds the last events of its answer.
--
-- ARGV[1]  JSON, besides prefix, kind, owner, id and the arguments of add-entry.lua and `makeRoomBy`:
--   attempt  id of the execution
--   end      `whole`, or `cut` if the connection was closed before the end of the answer
--   isFree   whether the next request with the key is executed; otherwise it gets this answer
--   keepMs   milliseconds for which the answer is kept
-- Returns 1, or 0 if the execution no longer has the key. A call that is repeated because its reply was lost returns 1 again.
if field('attempt') == args.attempt and field('state') == 'over' then
  return 1
end
if not mayAdd() then
  return 0
end
if addEntry() then
  redis.call('ZADD', names .. 'ended-of:' .. owner, whole(now), id)
end
redis.call('HSET', record, 'state', 'over', 'kind', args['end'])
if args.isFree then
  redis.call('HSET', record, 'isFree', 1)
end
expireAfter(args.keepMs)
publishChange('over')
return 1
