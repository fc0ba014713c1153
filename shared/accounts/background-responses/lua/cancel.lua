-- Cancels a response that is not over.
--
-- ARGV[1]  JSON, besides prefix and id:
--   recordMs  milliseconds for which the record and its events are kept
-- ARGV[2]  the answer, sealed
-- Returns 1, or 0 if it is over or unknown.
sweep()
if not isOpen() then
  return 0
end
close('cancelled', ARGV[2], args.recordMs)
return 1
