-- Cancels an unfinished response. Can remove it in the same step, so that clients that stream it see the removal.
--
-- ARGV[1]  JSON, besides prefix and id:
--   recordMs  milliseconds for which the record and its events are kept
--   chargedMs  if it is removed: milliseconds for which its use can still be counted
-- ARGV[2]  the answer, sealed
-- Returns 1, or 0 if it is over or unknown.
sweep()
if not isOpen() then
  return 0
end
close('cancelled', ARGV[2], args.recordMs)
if args.chargedMs then
  hide(field('owner'), args.chargedMs)
end
return 1
