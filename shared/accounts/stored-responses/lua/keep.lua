-- Stores a response. The responses that it continues are kept as long as it: times of expiry are rounded up to a 24th of the time for
-- which responses are kept, so that a long history is not visited for each response that continues it. Where there is no room, the
-- oldest responses go: of this owner when the owner has too many bytes, and of the owner with the most when all have too many together.
--
-- ARGV[1]  JSON, besides prefix and owner:
--   id
--   previous    id of the response that it continues; absent for none
--   mostLinks   responses that it continues at most
--   keepMs      milliseconds for which it is kept
--   ownerBytes  bytes that may be stored of an owner
--   totalBytes  bytes that may be stored in all
-- ARGV[2]  the sealed response
-- ARGV[3]  what is known of it, see stored.lua
-- Returns 1, 0 if it has more bytes than may be stored, or -1 if its owner is gone.
local owner, id, content = args.owner, args.id, ARGV[2]
local bytes = cjson.decode(ARGV[3]).bytes
sweep()
if redis.call('EXISTS', nameOf('refused', owner)) == 1 then
  return -1
end
if bytes > args.ownerBytes or bytes > args.totalBytes then
  return 0
end
-- It is there already when the reply to the first call was lost.
forget(owner, id)

local step = math.max(1, math.floor(args.keepMs / 24))
local expiry = (math.floor((now + args.keepMs) / step) + 1) * step

local function date(each)
  redis.call('ZADD', nameOf('by-age', owner), whole(now), each)
  redis.call('ZADD', prefix .. 'stored-expiries', whole(expiry), owner .. ' ' .. each)
  redis.call('PEXPIREAT', nameOf('response', owner, each), whole(expiry))
end

-- Whether a response, and with it all that it continues, is there for long enough.
local function lasts(each)
  return tonumber(redis.call('ZSCORE', prefix .. 'stored-expiries', owner .. ' ' .. each) or 0) >= expiry
end

local function evictOldest(of)
  local oldest = redis.call('ZRANGE', nameOf('by-age', of), 0, 0)[1]
  if oldest then
    forget(of, oldest)
    return
  end
  -- Somebody has removed names by hand: what is counted of this owner is not there.
  redis.call('DECRBY', prefix .. 'stored-total', redis.call('ZSCORE', prefix .. 'stored-bytes', of) or 0)
  redis.call('ZREM', prefix .. 'stored-bytes', of)
end

local function ownerHas()
  return tonumber(redis.call('ZSCORE', prefix .. 'stored-bytes', owner) or 0)
end

local function allHave()
  return tonumber(redis.call('GET', prefix .. 'stored-total') or 0)
end

local previous = args.previous
for _ = 1, args.mostLinks do
  local entry = previous and not lasts(previous) and entryOf(owner, previous)
  if not entry then
    break
  end
  date(previous)
  previous = entry.previous
end
while ownerHas() + bytes > args.ownerBytes do
  evictOldest(owner)
end
while allHave() + bytes > args.totalBytes do
  local most = redis.call('ZREVRANGE', prefix .. 'stored-bytes', 0, 0)[1]
  if most then
    evictOldest(most)
  else
    redis.call('DEL', prefix .. 'stored-total')
  end
end

redis.call('SET', nameOf('response', owner, id), content)
redis.call('HSET', nameOf('of', owner), id, ARGV[3])
for _, item in ipairs(cjson.decode(ARGV[3]).items) do
  setHolder(owner, item, id, true)
end
date(id)
redis.call('ZINCRBY', prefix .. 'stored-bytes', whole(bytes), owner)
redis.call('INCRBY', prefix .. 'stored-total', whole(bytes))
return 1
