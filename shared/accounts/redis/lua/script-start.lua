-- The start of scripts that keep records which expire, and streams of their events. Times are in ms since 1970, by the clock of Redis.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
local args = cjson.decode(ARGV[1])
local prefix = args.prefix
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Lua's own conversion writes large numbers with an exponent.
local function whole(number)
  return string.format('%.0f', number)
end

-- Returns two functions that read a field of a hash. The first returns its text, the second its number, which is 0 if the field is absent.
local function fieldsOf(hash)
  local function field(name)
    return redis.call('HGET', hash, name)
  end
  return field, function(name)
    return tonumber(field(name) or 0)
  end
end

-- Reads the events after event `after` from a stream. The id of an entry is the number of its last event plus 1; its field `e` has the
-- events. Reads at most `most` entries, and no further entries after `maxBytes` bytes. For each entry, calls `call` with the number of its
-- last event and its events.
local function eachAfter(stream, after, most, maxBytes, call)
  local bytes, read, from = 0, 0, whole(after + 2)
  -- XRANGE copies whole entries, which may be large: it reads a few at first, and then as many as fit by their mean size.
  local count = 2
  while read < most and bytes < maxBytes do
    local entries = redis.call('XRANGE', stream, from, '+', 'COUNT', math.min(count, most - read))
    for _, entry in ipairs(entries) do
      call(tonumber(string.match(entry[1], '^%d+')) - 1, entry[2][2])
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
