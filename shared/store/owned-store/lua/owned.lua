-- The functions of every kind of thing that is stored for owners. This file is prepended to the scripts of a kind, after script-start.lua
-- and before the file of the kind, which sets `one`, `many` and `content`, and may replace `addMore` and `forgetMore`. All names begin
-- with one prefix. An owner is a person, a team or a key. The ids of owners have no spaces.
--
--   <prefix><many>-of:<owner>       hash: id of each thing to its entry, JSON: at least its bytes; items, if the thing has parts that are
--                                   found by their own ids
--   <prefix><many>-by-age:<owner>   sorted set: ids of the things, the oldest first
--   <prefix><many>-refused:<owner>  string that expires: present if the owner no longer exists, so that nothing is stored for it
--   <prefix><one>-expiries          sorted set: `<owner> <id>` of the things that expire, by the time at which they do
--   <prefix><one>-bytes             sorted set: owners, by the bytes that are stored for them
--   <prefix><one>-total             string: bytes that are stored for all owners
--   <prefix><content>:<owner>:<id>  the sealed content of a thing, which expires; only for kinds that set `content`
local owned = {}

-- Maximum of things that one sweep removes.
local maxSweptAtOnce = 100

-- Returns a name of an owner, or without an owner a name of all owners.
function owned.nameOf(part, owner)
  if owner then
    return prefix .. owned.many .. '-' .. part .. ':' .. owner
  end
  return prefix .. owned.one .. '-' .. part
end

function owned.contentOf(owner, id)
  return prefix .. owned.content .. ':' .. owner .. ':' .. id
end

-- Returns the entry of a thing; nil for an unknown thing.
function owned.readEntry(owner, id)
  local text = redis.call('HGET', owned.nameOf('of', owner), id)
  return text and cjson.decode(text) or nil
end

function owned.readBytes(owner)
  return tonumber(redis.call('ZSCORE', owned.nameOf('bytes'), owner) or 0)
end

function owned.readTotal()
  return tonumber(redis.call('GET', owned.nameOf('total')) or 0)
end

-- Adds bytes to the counts of an owner and of all owners; a number below 0 subtracts bytes.
function owned.countBytes(owner, bytes)
  redis.call('INCRBY', owned.nameOf('total'), whole(bytes))
  if tonumber(redis.call('ZINCRBY', owned.nameOf('bytes'), whole(bytes), owner)) <= 0 then
    redis.call('ZREM', owned.nameOf('bytes'), owner)
  end
end

-- Returns whether the owner no longer exists.
function owned.isRefused(owner)
  return redis.call('EXISTS', owned.nameOf('refused', owner)) == 1
end

function owned.setExpiry(owner, id, expiry)
  redis.call('ZADD', owned.nameOf('expiries'), whole(expiry), owner .. ' ' .. id)
  if owned.content then
    redis.call('PEXPIREAT', owned.contentOf(owner, id), whole(expiry))
  end
end

-- Stores a thing, after its content was written. `text` is its entry as JSON, `place` its position by age. `expiry` may be nil.
function owned.add(owner, id, text, bytes, place, expiry)
  redis.call('HSET', owned.nameOf('of', owner), id, text)
  redis.call('ZADD', owned.nameOf('by-age', owner), whole(place), id)
  if expiry then
    owned.setExpiry(owner, id, expiry)
  end
  owned.countBytes(owner, bytes)
end

-- Stores what the kind stores about a new thing in other names. Called by keep.lua.
function owned.addMore(owner, id, entry) end

-- Removes what the kind stores about a thing in other names. Returns true if the bytes of the thing still count.
function owned.forgetMore(owner, id, entry) end

-- Removes a thing. Returns its entry; nil for an unknown thing.
function owned.forget(owner, id)
  if owned.content then
    redis.call('UNLINK', owned.contentOf(owner, id))
  end
  redis.call('ZREM', owned.nameOf('by-age', owner), id)
  redis.call('ZREM', owned.nameOf('expiries'), owner .. ' ' .. id)
  local entry = owned.readEntry(owner, id)
  if not entry then
    return nil
  end
  redis.call('HDEL', owned.nameOf('of', owner), id)
  if not owned.forgetMore(owner, id, entry) then
    owned.countBytes(owner, -entry.bytes)
  end
  return entry
end

-- Removes things that have expired. Redis has removed their content already. Returns how many were removed.
function owned.sweep()
  local expired = redis.call('ZRANGEBYSCORE', owned.nameOf('expiries'), '-inf', whole(now), 'LIMIT', 0, maxSweptAtOnce)
  for _, member in ipairs(expired) do
    owned.forget(string.match(member, '^(%S+) (.+)$'))
  end
  return #expired
end

-- Removes expired things, and decides whether a thing of so many bytes may be stored. An earlier thing with its id is then removed: it may
-- come from a call whose reply was lost.
--
--   options  owner, id and:
--     ownerBytes  maximum bytes that are stored for an owner
--     totalBytes  maximum bytes that are stored for all owners
-- Returns 1, 0 if the thing has more bytes than may be stored, or -1 if its owner no longer exists.
function owned.admit(options, bytes)
  owned.sweep()
  if owned.isRefused(options.owner) then
    return -1
  end
  if bytes > options.ownerBytes or bytes > options.totalBytes then
    return 0
  end
  owned.forget(options.owner, options.id)
  return 1
end

-- Removes the oldest things of an owner while the owner has too many or too many bytes, then the oldest things of the owner with the most
-- bytes while all owners together have too many bytes. To be called after `admit`.
--
--   options  those of `admit` and:
--     ownerCount  maximum of things of an owner; absent if only their bytes are bounded
function owned.makeRoom(options, bytes)
  local owner = options.owner
  local function evictOldest(evictedOwner)
    local oldest = redis.call('ZRANGE', owned.nameOf('by-age', evictedOwner), 0, 0)[1]
    if oldest then
      owned.forget(evictedOwner, oldest)
    else
      -- Somebody has removed Redis keys by hand. The bytes that are counted for this owner do not exist.
      owned.countBytes(evictedOwner, -owned.readBytes(evictedOwner))
    end
  end
  while
    owned.readBytes(owner) + bytes > options.ownerBytes
    or (options.ownerCount and redis.call('ZCARD', owned.nameOf('by-age', owner)) >= options.ownerCount)
  do
    evictOldest(owner)
  end
  while owned.readTotal() + bytes > options.totalBytes do
    local largestOwner = redis.call('ZREVRANGE', owned.nameOf('bytes'), 0, 0)[1]
    if largestOwner then
      evictOldest(largestOwner)
    else
      redis.call('DEL', owned.nameOf('total'))
    end
  end
end
