-- Writes what was done for a response until it was cancelled into the usage ledger, once.
--
-- ARGV[1]  JSON, besides prefix and id:
--   attempt  the id of the one that was under way
--   ledger   see `writeUsage`
-- ARGV[2…]  the requests
-- Returns 1, also when it is called again because the answer was lost; 0 if the response was not cancelled in this attempt.
if field('state') ~= 'cancelled' or field('attempt') ~= args.attempt then
  return 0
end
if redis.call('HSETNX', record, 'charged', 1) == 1 then
  writeUsage(args.ledger, 2)
end
return 1
