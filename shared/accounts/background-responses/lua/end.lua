-- Ends a response with the result of a run: the last events, the answer among the stored responses, the requests in the usage ledger, and
-- the event for webhooks. Writes either all of these or nothing.
--
-- ARGV[1]  JSON, besides prefix, id and the arguments of `keepStored`:
--   attempt   id of the run
--   state     `completed`, `incomplete` or `failed`
--   from      number of the first event, or of an earlier event that may be there already
--   last      number of the last event in ARGV[2]
--   recordMs  milliseconds for which the record and its events are kept
--   ledger    see `writeUsage`
-- ARGV[2]  the last events, sealed
-- ARGV[3]  the final response object, sealed; empty if it is among the stored responses
-- ARGV[4]  the stored response, sealed; empty if there is none
-- ARGV[5]  the record of the stored response, see stored.lua; empty if there is none
-- ARGV[6…]  the requests, for `writeUsage`
-- Returns 1, also when it is called again because the reply was lost; 0 if the response is over or another run has begun; -1 if the answer
-- is too large to be stored.
sweep()
if field('state') == args.state and field('attempt') == args.attempt then
  return 1
end
if field('state') ~= 'in_progress' or field('attempt') ~= args.attempt then
  return 0
end
if ARGV[4] ~= '' and keepStored(args, ARGV[4], ARGV[5]) == 0 then
  return -1
end
if args.from > number('next') then
  stopKeepingEvents(field('owner'))
end
-- Clients that stream the response wait for these events, so they are added even if there is no room.
addEvents(field('owner'), ARGV[2], args.last)
close(args.state, ARGV[3], args.recordMs)
writeUsage(args.ledger, 6)
return 1
