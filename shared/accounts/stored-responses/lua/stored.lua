-- The functions that the scripts of this folder share. This file is prepended to each of them, after script-start.lua. All names begin with
-- one prefix. An owner is a person, a team or a key. The ids of owners have no spaces.
--
--   <prefix>stored-response:<owner>:<id>  string that expires: one response with its input, sealed
--   <prefix>stored-of:<owner>             hash: id of each response to JSON: bytes, previous (the id of the response that it continues;
--                                         absent if it continues none), items (ids of its items)
--   <prefix>stored-items:<owner>          hash: id of an item to the ids of the newest responses that contain it, oldest first, separated
--                                         by spaces
--   <prefix>stored-by-age:<owner>         sorted set: ids of the responses, by the time at which they were stored or last extended
--   <prefix>stored-refused:<owner>        string that expires: present if the owner no longer exists, so that nothing is stored for it
--   <prefix>stored-expiries               sorted set: `<owner> <id>` of all responses, by the time at which they expire
--   <prefix>stored-bytes                  sorted set: owners, by the bytes that are stored for them
--   <prefix>stored-total                  string: bytes that are stored for all owners
--
-- ARGV[1]  JSON, besides prefix:
--   owner

-- Maximum of responses that one sweep removes.
local maxSweptAtOnce = 100

local function nameOf(kind, owner, id)
  return prefix .. 'stored-' .. kind .. ':' .. owner .. (id and ':' .. id or '')
end

-- Returns the record of a response, without its content; nil for an unknown response.
local function readEntry(owner, id)
  local text = redis.call('HGET', nameOf('of', owner), id)
  return text and cjson.decode(text) or nil
end

-- Returns the sealed content of a response; nil if the response is unknown or has expired.
local function readContent(owner, id)
  return redis.call('GET', nameOf('response', owner, id)) or nil
end

-- Returns the bytes of the sealed content of a response; 0 if the response is unknown or has expired.
local function readLength(owner, id)
  return redis.call('STRLEN', nameOf('response', owner, id))
end

-- Maximum of responses that are stored as the holders of an item: the newest responses that contain it. Once these responses are removed,
-- the item is unknown, even if an older response contains it.
local maxHolders = 16

-- Returns the ids of the stored holders of an item, oldest first.
local function readHolders(owner, item)
  local holders = {}
  for id in string.gmatch(redis.call('HGET', nameOf('items', owner), item) or '', '%S+') do
    table.insert(holders, id)
  end
  return holders
end

-- Adds a response to the holders of an item, or removes it from them.
local function setHolder(owner, item, id, isHolder)
  local holders = {}
  for _, holder in ipairs(readHolders(owner, item)) do
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
  local entry = readEntry(owner, id)
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

-- Removes records of responses that have expired. Redis has removed their content already. Returns how many records were removed.
local function sweep()
  local expired = redis.call('ZRANGEBYSCORE', prefix .. 'stored-expiries', '-inf', whole(now), 'LIMIT', 0, maxSweptAtOnce)
  for _, member in ipairs(expired) do
    local owner, id = string.match(member, '^(%S+) (.+)$')
    forget(owner, id)
  end
  return #expired
end
