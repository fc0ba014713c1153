-- Removes a response that is over. If it was cancelled during a run, the use of that run can still be counted for a while.
--
-- ARGV[1]  JSON, besides prefix, kind, owner and id:
--   chargedMs  milliseconds for which the response's use can still be counted
-- Returns 1, or 0 if the owner has no such response, or the response is unfinished.
if field('owner') ~= owner or field('deletedAt') or isOpen() then
  return 0
end
remove(args.chargedMs)
publishChange('over')
return 1
