-- Writes what was done for a response until it was cancelled into the usage ledger, once.
--
-- ARGV[1]  JSON, besides prefix and id:
--   attempt  the id of the one that was under way
--   ledger   see `writeUsage`
-- ARGV[2…]  the requests
-- Returns 1, or 0 if it was written, or the response was not cancelled in this attempt.
if field('state') ~= 'cancelled' or field('attempt') ~= args.attempt then
  return 0
end
if redis.call('HSETNX', record, 'charged', 1) == 0 then
  return 0
end
writeUsage(args.ledger, 2)
return 1
