-- The names of stored responses, besides those of owned.lua, and the functions that their scripts share.
--
--   <prefix>stored-of:<owner>     the entries: bytes, previous (the id of the response that it continues; absent if it continues none),
--                                 items (ids of its items)
--   <prefix>stored-items:<owner>  hash: id of an item to the ids of the newest responses that contain it, oldest first, separated by spaces
owned.one, owned.many, owned.content = 'stored', 'stored', 'stored-response'

-- Maximum of responses that are stored as the holders of an item: the newest responses that contain it. Once these responses are removed,
-- the item is unknown, even if an older response contains it.
local maxHolders = 16

-- Returns the sealed content of a response; nil if the response is unknown or has expired.
local function readContent(owner, id)
  return redis.call('GET', owned.contentOf(owner, id)) or nil
end

-- Returns the bytes of the sealed content of a response; 0 if the response is unknown or has expired.
local function readLength(owner, id)
  return redis.call('STRLEN', owned.contentOf(owner, id))
end

-- Returns the ids of the stored holders of an item, oldest first.
local function readHolders(owner, item)
  local holders = {}
  for id in string.gmatch(redis.call('HGET', owned.nameOf('items', owner), item) or '', '%S+') do
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
    redis.call('HDEL', owned.nameOf('items', owner), item)
  else
    redis.call('HSET', owned.nameOf('items', owner), item, table.concat(holders, ' '))
  end
end

function owned.forgetMore(owner, id, entry)
  for _, item in ipairs(entry.items) do
    setHolder(owner, item, id, false)
  end
end

-- Stores a response. The responses that it continues are kept as long as the new one. Times of expiry are rounded up to a multiple of
-- `keepMs` / 24. So of the many responses that continue a long history, only a few visit all of it.
--
--   options  those of `owned.makeRoom` and:
--     previous  id of the response that the new response continues; absent if it continues none
--     maxLinks  maximum length of the chain of responses that the new response continues
--     keepMs    milliseconds for which the response is kept
--   content  the sealed response
--   text     its entry, as JSON
-- Returns 1, 0 if the response has more bytes than may be stored, or -1 if its owner no longer exists.
local function keepStored(options, content, text)
  local owner, id, entry = options.owner, options.id, cjson.decode(text)
  local outcome = owned.admit(options, entry.bytes)
  if outcome ~= 1 then
    return outcome
  end
  local step = math.max(1, math.floor(options.keepMs / 24))
  local expiry = (math.floor((now + options.keepMs) / step) + 1) * step

  -- Returns whether a response already expires late enough. The responses that it continues then expire late enough, too.
  local function isKeptLongEnough(responseId)
    return tonumber(redis.call('ZSCORE', owned.nameOf('expiries'), owner .. ' ' .. responseId) or 0) >= expiry
  end

  local previous = options.previous
  for _ = 1, options.maxLinks do
    local previousEntry = previous and not isKeptLongEnough(previous) and owned.readEntry(owner, previous)
    if not previousEntry then
      break
    end
    redis.call('ZADD', owned.nameOf('by-age', owner), whole(now), previous)
    owned.setExpiry(owner, previous, expiry)
    previous = previousEntry.previous
  end
  owned.makeRoom(options, entry.bytes)
  redis.call('SET', owned.contentOf(owner, id), content)
  for _, item in ipairs(entry.items) do
    setHolder(owner, item, id, true)
  end
  owned.add(owner, id, text, entry.bytes, now, expiry)
  return 1
end
