-- Adds an entry to an answer.
--
-- ARGV  see journal.lua, add-entry.lua, `mayAdd` and `makeRoomBy`
-- Returns 1, 0 if the execution may not add events any more, or -1 if the events of the answer are not kept.
if not mayAdd() then
  return 0
end
local isKept = addEntry()
publishChange('events')
return isKept and 1 or -1
