-- The start of scripts that compute names themselves, and so do not run on a Redis cluster. Times are in ms since 1970, by the clock of
-- Redis.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
local args = cjson.decode(ARGV[1])
local prefix = args.prefix
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Formats a number as an integer. Lua's own conversion writes large numbers with an exponent. Adding 0 turns -0, which Redis cannot read,
-- into 0.
local function whole(number)
  return string.format('%.0f', number + 0)
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
