-- Adds an entry to an answer: events, status and headers, or endpoint and digest of the request.
--
-- ARGV[1]  JSON, besides prefix, owner, id and the arguments of add-entry.lua:
--   attempt  id of the execution
--   ownerBytes, totalBytes  see claim.lua
-- Returns 1, 0 if the execution no longer has the key, or -1 if the answer is not kept.
if not hasKey() then
  return 0
end
local isKept = addEntry()
publishChange('events')
return isKept and 1 or -1
