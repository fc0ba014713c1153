-- This file is prepended, after script-start.lua, to scripts that read a stream of events.

-- Reads the entries of a stream that contain events after event `after`. The id of an entry is the number of its last event plus 1. The
-- field `e` of an entry has its events. Reads at most `maxEntries` entries, and stops once it has read `maxBytes` bytes. Calls `onEntry`
-- for each entry, with the number of its last event and its events.
local function eachAfter(stream, after, maxEntries, maxBytes, onEntry)
  local bytes, read, from = 0, 0, whole(after + 2)
  -- XRANGE copies whole entries, which may be large. So the first call reads two entries. Each later call reads as many entries as fit,
  -- judged by the mean size of the earlier entries.
  local count = 2
  while read < maxEntries and bytes < maxBytes do
    local entries = redis.call('XRANGE', stream, from, '+', 'COUNT', math.min(count, maxEntries - read))
    for _, entry in ipairs(entries) do
      onEntry(tonumber(string.match(entry[1], '^%d+')) - 1, entry[2][2])
      bytes = bytes + #entry[2][2]
      read = read + 1
      from = '(' .. entry[1]
      if bytes >= maxBytes then
        return
      end
    end
    if #entries < count then
      return
    end
    count = math.max(1, math.min(50, math.ceil((maxBytes - bytes) * read / math.max(1, bytes))))
  end
end
