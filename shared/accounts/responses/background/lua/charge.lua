-- Writes the use of a response before its cancellation into the usage ledger, once. If the response was removed, its record then expires
-- soon.
--
-- ARGV[1]  JSON, besides prefix, kind, owner and id:
--   attempt  id of the run during which the response was cancelled
--   ledger   see `writeUsage`
--   againMs  milliseconds for which the record of a removed response stays, so that a repeated call finds it
-- ARGV[2…]  the requests, for `writeUsage`
-- Returns 1, also if it is called again because the first reply was lost; 0 if the response was not cancelled in this run.
if field('state') ~= 'cancelled' or field('attempt') ~= args.attempt then
  return 0
end
if redis.call('HSETNX', record, 'charged', 1) == 1 then
  writeUsage(args.ledger, 2)
  if field('deletedAt') then
    expireAfter(args.againMs)
  end
end
return 1
