-- Renews the lease of an execution, also one that has ended, if nobody has taken the key meanwhile.
--
-- ARGV[1]  JSON, besides prefix, owner and id:
--   attempt  id of the execution
--   leaseMs  milliseconds for which it has the key
--   keepMs   milliseconds for which the key is known afterwards
-- Returns how many wait for the answer, or -1 if it has not got the key any more.
if not isMine() then
  return -1
end
redis.call('HSET', record, 'leaseUntil', whole(now + args.leaseMs))
expireAfter(args.leaseMs + args.keepMs)
return countFollowers()
