-- Cancels an unfinished response. If `chargedMs` is present, removes the response in the same step, so that clients that stream it see the
-- removal.
--
-- ARGV[1]  JSON, besides prefix, kind, owner and id:
--   recordMs   milliseconds for which the record and its events are kept
--   chargedMs  milliseconds for which the use of the removed response can still be counted; absent to keep the response
-- ARGV[2]  the final response object, sealed
-- Returns 1, or 0 if the response is over or unknown.
if not isOpen() then
  return 0
end
close('cancelled', ARGV[2], args.recordMs)
if args.chargedMs then
  remove(args.chargedMs)
end
return 1
