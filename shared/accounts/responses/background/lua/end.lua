-- Ends a response with the result of a run: the last events, the answer among the stored responses, the requests in the usage ledger, and
-- the event for webhooks. Writes either all of these or nothing.
--
-- ARGV[1]  JSON, besides prefix, kind, owner, id and the arguments of add-entry.lua and `keepStored`:
--   attempt   id of the run
--   state     `completed`, `incomplete` or `failed`
--   recordMs  milliseconds for which the record and its events are kept
--   ledger    see `writeUsage`
-- ARGV[2]  the last events, sealed
-- ARGV[3]  the final response object, sealed; empty if it is among the stored responses
-- ARGV[4]  the stored response, sealed; empty if there is none
-- ARGV[5]  the record of the stored response, see stored.lua; empty if there is none
-- ARGV[6…]  the requests, for `writeUsage`
-- Returns 1, also when it is called again because the reply was lost; 0 if the response is over or another run has begun; -1 if the answer
-- is too large to be stored.
if field('state') == args.state and field('attempt') == args.attempt then
  return 1
end
if not mayAdd() then
  return 0
end
if ARGV[4] ~= '' and keepStored(args, ARGV[4], ARGV[5]) == 0 then
  return -1
end
addEntry(true)
close(args.state, ARGV[3], args.recordMs)
writeUsage(args.ledger, 6)
return 1
