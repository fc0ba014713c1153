-- Gives up an execution whose client is gone, unless somebody else waits for its answer. The key is free then.
--
-- ARGV[1]  JSON, besides prefix, owner and id:
--   attempt  id of the execution
--   keepMs   milliseconds for which it is known that there was one
-- Returns how many wait for the answer; 0 if it was given up, or has not got the key any more.
if not isMine() then
  return 0
end
local waiting = countFollowers()
if waiting == 0 then
  lose(owner, id)
  redis.call('HSET', record, 'state', 'over', 'kind', 'cancelled', 'isFree', 1)
  expireAfter(args.keepMs)
  changed('over')
end
return waiting
