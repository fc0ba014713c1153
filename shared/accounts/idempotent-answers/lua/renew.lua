-- Renews the lease of an execution. A lease that has run out is renewed as well, unless another execution has claimed the key.
--
-- ARGV[1]  JSON, besides prefix, kind, owner and id:
--   attempt  id of the execution
--   leaseMs  milliseconds for which the execution has the key
--   keepMs   milliseconds for which the key stays known after the lease
-- Returns how many followers wait for the answer, or -1 if the execution no longer has the key.
if not mayAdd() then
  return -1
end
redis.call('HSET', record, 'leaseUntil', whole(now + args.leaseMs))
expireAfter(args.leaseMs + args.keepMs)
return countFollowers()
