-- What the scripts of this folder have in common. This file stands before each of them. All names begin with one prefix. An owner is a
-- person, a team or a key, and has no spaces in its id.
--
--   <prefix>stored-response:<owner>:<id>  string that expires: one response with its input, sealed
--   <prefix>stored-of:<owner>             hash: id of each response to JSON: bytes, previous (the id of the response that it continues;
--                                         absent if it continues none), items (ids of its items)
--   <prefix>stored-items:<owner>          hash: id of an item to the ids of the newest responses that have it, oldest first and separated
--                                         by spaces
--   <prefix>stored-by-age:<owner>         sorted set: ids of the responses, by the time at which they were stored or last extended
--   <prefix>stored-refused:<owner>        string that expires: present if the owner no longer exists, so that nothing is stored for it
--   <prefix>stored-expiries               sorted set: `<owner> <id>` of all responses, by the time at which they expire
--   <prefix>stored-bytes                  sorted set: owners, by the bytes that are stored for them
--   <prefix>stored-total                  string: bytes that are stored for all owners
--
-- The scripts make names themselves, so they do not run on a Redis cluster. Times are in ms since 1970, by the clock of Redis.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
--   owner
local args = cjson.decode(ARGV[1])
local prefix = args.prefix
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Maximum of responses that one sweep removes.
local sweptAtOnce = 100

-- Lua's own conversion writes large numbers with an exponent.
local function whole(number)
  return string.format('%.0f', number)
end

local function nameOf(kind, owner, id)
  return prefix .. 'stored-' .. kind .. ':' .. owner .. (id and ':' .. id or '')
end

-- Returns the record of a response, without its content; nil for an unknown response.
local function entryOf(owner, id)
  local text = redis.call('HGET', nameOf('of', owner), id)
  return text and cjson.decode(text) or nil
end

-- Returns the sealed content of a response; nil if the response is unknown or has expired.
local function contentOf(owner, id)
  return redis.call('GET', nameOf('response', owner, id)) or nil
end

-- Maximum of responses by which an item is found: the newest responses that contain the item. Once these responses are removed, the item is
-- unknown, even if an older response contains it.
local maxHolders = 16

-- Returns the ids of the responses by which an item is found, oldest first.
local function holdersOf(owner, item)
  local holders = {}
  for id in string.gmatch(redis.call('HGET', nameOf('items', owner), item) or '', '%S+') do
    table.insert(holders, id)
  end
  return holders
end

-- Adds a response to the responses by which an item is found, or removes it from them.
local function setHolder(owner, item, id, isHolder)
  local holders = {}
  for _, holder in ipairs(holdersOf(owner, item)) do
    if holder ~= id then
      table.insert(holders, holder)
    end
  end
  if isHolder then
    table.insert(holders, id)
  end
  if #holders > maxHolders then
    table.remove(holders, 1)
  end
  if #holders == 0 then
    redis.call('HDEL', nameOf('items', owner), item)
  else
    redis.call('HSET', nameOf('items', owner), item, table.concat(holders, ' '))
  end
end

-- Removes a response and everything that is stored about it.
local function forget(owner, id)
  redis.call('DEL', nameOf('response', owner, id))
  redis.call('ZREM', nameOf('by-age', owner), id)
  redis.call('ZREM', prefix .. 'stored-expiries', owner .. ' ' .. id)
  local entry = entryOf(owner, id)
  if not entry then
    return
  end
  redis.call('HDEL', nameOf('of', owner), id)
  for _, item in ipairs(entry.items) do
    setHolder(owner, item, id, false)
  end
  redis.call('DECRBY', prefix .. 'stored-total', whole(entry.bytes))
  if tonumber(redis.call('ZINCRBY', prefix .. 'stored-bytes', whole(-entry.bytes), owner)) <= 0 then
    redis.call('ZREM', prefix .. 'stored-bytes', owner)
  end
end

-- Removes the records of responses whose content has expired. Returns how many records were removed.
local function sweep()
  local expired = redis.call('ZRANGEBYSCORE', prefix .. 'stored-expiries', '-inf', whole(now), 'LIMIT', 0, sweptAtOnce)
  for _, each in ipairs(expired) do
    local owner, id = string.match(each, '^(%S+) (.+)$')
    forget(owner, id)
  end
  return #expired
end
