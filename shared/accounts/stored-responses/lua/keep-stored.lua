-- Defines the function that stores a response. This file is prepended to each script that calls the function. The responses that the new
-- response continues are kept as long as the new one. Times of expiry are rounded up to a multiple of `keepMs` / 24. So of the many
-- responses that continue a long history, only a few visit all of it. If the owner has too many bytes, the owner's oldest responses are
-- removed. If all owners together have too many bytes, the oldest responses of the owner with the most bytes are removed.
--
--   options  owner, id and:
--     previous    id of the response that the new response continues; absent if it continues none
--     maxLinks    maximum length of the chain of responses that the new response continues
--     keepMs      milliseconds for which the response is kept
--     ownerBytes  maximum bytes that are stored for an owner
--     totalBytes  maximum bytes that are stored for all owners
--   content  the sealed response
--   entry    the record of the response, see stored.lua
-- Returns 1, 0 if the response has more bytes than may be stored, or -1 if its owner no longer exists.
local function keepStored(options, content, entry)
  local owner, id = options.owner, options.id
  local bytes = cjson.decode(entry).bytes
  sweep()
  if redis.call('EXISTS', nameOf('refused', owner)) == 1 then
    return -1
  end
  if bytes > options.ownerBytes or bytes > options.totalBytes then
    return 0
  end
  -- If this call repeats a call whose reply was lost, the response is stored already.
  forget(owner, id)

  local step = math.max(1, math.floor(options.keepMs / 24))
  local expiry = (math.floor((now + options.keepMs) / step) + 1) * step

  local function setExpiry(responseId)
    redis.call('ZADD', nameOf('by-age', owner), whole(now), responseId)
    redis.call('ZADD', prefix .. 'stored-expiries', whole(expiry), owner .. ' ' .. responseId)
    redis.call('PEXPIREAT', nameOf('response', owner, responseId), whole(expiry))
  end

  -- Returns whether a response already expires late enough. The responses that it continues then expire late enough, too.
  local function isKeptLongEnough(responseId)
    return tonumber(redis.call('ZSCORE', prefix .. 'stored-expiries', owner .. ' ' .. responseId) or 0) >= expiry
  end

  local function evictOldest(evictedOwner)
    local oldest = redis.call('ZRANGE', nameOf('by-age', evictedOwner), 0, 0)[1]
    if oldest then
      forget(evictedOwner, oldest)
      return
    end
    -- Somebody has removed Redis keys by hand. The bytes that are counted for this owner do not exist.
    redis.call('DECRBY', prefix .. 'stored-total', redis.call('ZSCORE', prefix .. 'stored-bytes', evictedOwner) or 0)
    redis.call('ZREM', prefix .. 'stored-bytes', evictedOwner)
  end

  local function readOwnerBytes()
    return tonumber(redis.call('ZSCORE', prefix .. 'stored-bytes', owner) or 0)
  end

  local function readTotalBytes()
    return tonumber(redis.call('GET', prefix .. 'stored-total') or 0)
  end

  local previous = options.previous
  for _ = 1, options.maxLinks do
    local previousEntry = previous and not isKeptLongEnough(previous) and readEntry(owner, previous)
    if not previousEntry then
      break
    end
    setExpiry(previous)
    previous = previousEntry.previous
  end
  while readOwnerBytes() + bytes > options.ownerBytes do
    evictOldest(owner)
  end
  while readTotalBytes() + bytes > options.totalBytes do
    local largestOwner = redis.call('ZREVRANGE', prefix .. 'stored-bytes', 0, 0)[1]
    if largestOwner then
      evictOldest(largestOwner)
    else
      redis.call('DEL', prefix .. 'stored-total')
    end
  end

  redis.call('SET', nameOf('response', owner, id), content)
  redis.call('HSET', nameOf('of', owner), id, entry)
  for _, item in ipairs(cjson.decode(entry).items) do
    setHolder(owner, item, id, true)
  end
  setExpiry(id)
  redis.call('ZINCRBY', prefix .. 'stored-bytes', whole(bytes), owner)
  redis.call('INCRBY', prefix .. 'stored-total', whole(bytes))
  return 1
end
