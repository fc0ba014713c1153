-- Defines the function that stores a response. This file stands before each script that calls the function. The responses that the new
-- response continues are kept as long as the new one. Times of expiry are rounded up to a 24th of the time for which responses are kept, so
-- that a long history is not visited for each response that continues it. If the owner has too many bytes, the owner's oldest responses are
-- removed. If all owners together have too many bytes, the oldest responses of the owner with the most bytes are removed.
--
--   of       owner, id and:
--     previous    id of the response that this one continues; absent if it continues none
--     maxLinks    maximum of responses that this one continues, one after the other
--     keepMs      milliseconds for which the response is kept
--     ownerBytes  maximum bytes that are stored for an owner
--     totalBytes  maximum bytes that are stored for all owners
--   content  the sealed response
--   known    the record of the response, see stored.lua
-- Returns 1, 0 if the response has more bytes than may be stored, or -1 if its owner no longer exists.
local function keepStored(of, content, known)
  local owner, id = of.owner, of.id
  local bytes = cjson.decode(known).bytes
  sweep()
  if redis.call('EXISTS', nameOf('refused', owner)) == 1 then
    return -1
  end
  if bytes > of.ownerBytes or bytes > of.totalBytes then
    return 0
  end
  -- The response is stored already if this call repeats a call whose reply was lost.
  forget(owner, id)

  local step = math.max(1, math.floor(of.keepMs / 24))
  local expiry = (math.floor((now + of.keepMs) / step) + 1) * step

  local function setExpiry(each)
    redis.call('ZADD', nameOf('by-age', owner), whole(now), each)
    redis.call('ZADD', prefix .. 'stored-expiries', whole(expiry), owner .. ' ' .. each)
    redis.call('PEXPIREAT', nameOf('response', owner, each), whole(expiry))
  end

  -- Returns whether a response is kept for long enough. The responses that it continues are then kept for long enough, too.
  local function isKeptLongEnough(each)
    return tonumber(redis.call('ZSCORE', prefix .. 'stored-expiries', owner .. ' ' .. each) or 0) >= expiry
  end

  local function evictOldest(from)
    local oldest = redis.call('ZRANGE', nameOf('by-age', from), 0, 0)[1]
    if oldest then
      forget(from, oldest)
      return
    end
    -- This happens when somebody has removed names by hand. The bytes that are counted for this owner do not exist.
    redis.call('DECRBY', prefix .. 'stored-total', redis.call('ZSCORE', prefix .. 'stored-bytes', from) or 0)
    redis.call('ZREM', prefix .. 'stored-bytes', from)
  end

  local function ownerHas()
    return tonumber(redis.call('ZSCORE', prefix .. 'stored-bytes', owner) or 0)
  end

  local function allHave()
    return tonumber(redis.call('GET', prefix .. 'stored-total') or 0)
  end

  local previous = of.previous
  for _ = 1, of.maxLinks do
    local entry = previous and not isKeptLongEnough(previous) and entryOf(owner, previous)
    if not entry then
      break
    end
    setExpiry(previous)
    previous = entry.previous
  end
  while ownerHas() + bytes > of.ownerBytes do
    evictOldest(owner)
  end
  while allHave() + bytes > of.totalBytes do
    local most = redis.call('ZREVRANGE', prefix .. 'stored-bytes', 0, 0)[1]
    if most then
      evictOldest(most)
    else
      redis.call('DEL', prefix .. 'stored-total')
    end
  end

  redis.call('SET', nameOf('response', owner, id), content)
  redis.call('HSET', nameOf('of', owner), id, known)
  for _, item in ipairs(cjson.decode(known).items) do
    setHolder(owner, item, id, true)
  end
  setExpiry(id)
  redis.call('ZINCRBY', prefix .. 'stored-bytes', whole(bytes), owner)
  redis.call('INCRBY', prefix .. 'stored-total', whole(bytes))
  return 1
end
