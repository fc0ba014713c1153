-- The start of scripts for records that expire and have a stream of events. Times are in ms since 1970, by the clock of Redis.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
local args = cjson.decode(ARGV[1])
local prefix = args.prefix
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Formats a number as an integer. Lua's own conversion writes large numbers with an exponent.
local function whole(number)
  return string.format('%.0f', number)
end

-- Returns two functions that read a field of a hash. The first returns the text of the field. The second returns its number, or 0 if the
-- field is absent.
local function fieldsOf(hash)
  local function field(name)
    return redis.call('HGET', hash, name)
  end
  return field, function(name)
    return tonumber(field(name) or 0)
  end
end

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
