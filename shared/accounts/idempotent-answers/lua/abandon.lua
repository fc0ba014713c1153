-- Abandons an execution after its client has disconnected, unless a follower waits for the answer. The key is then free.
--
-- ARGV[1]  JSON, besides prefix, kind, owner and id:
--   attempt  id of the execution
--   keepMs   milliseconds for which the execution is still known
-- Returns how many followers wait for the answer; 0 if the execution was abandoned, or no longer has the key.
if not mayAdd() then
  return 0
end
local waiting = countFollowers()
if waiting == 0 then
  stopKeepingEvents(owner, id)
  redis.call('HSET', record, 'state', 'over', 'kind', 'cancelled', 'isFree', 1)
  expireAfter(args.keepMs)
  publishChange('over')
end
return waiting
