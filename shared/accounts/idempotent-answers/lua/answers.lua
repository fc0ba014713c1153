-- The functions that the scripts of idempotent answers share. This file is prepended to each of them, after script-start.lua. The scripts
-- build names themselves, so they do not run on a Redis cluster.
--
-- idempotent-answer:<owner>:<id>     hash, expires: a key of an owner, and its last execution
--   attempt     id of the execution
--   number      number of earlier executions with the key
--   state       `running` or `over`
--   leaseUntil  when the key becomes free, if the execution does not renew its lease
--   facts       endpoint and digest of the request, sealed
--   head        status and headers of the answer, sealed; absent until they are known
--   next        number of the next event
--   kind        of an answer that is over: `whole`, `cut` (its connection was closed before its end) or `cancelled`
--   repetitions number of requests with the key that were not executed; absent for 0
--   isFree      set if the next request with the key is executed
--   isLost      set if the entries of the answer are not kept
-- idempotent-events:<owner>:<id>     stream, expires: the sealed pieces of the answer; an entry's id is the number of its last event plus 1
-- idempotent-followers:<owner>:<id>  sorted set, expires: waiting followers, by the time until which each counts as waiting
-- idempotent-expiries                sorted set, `<owner> <id>` by the time at which the key expires
-- idempotent-ended-of:<owner>        sorted set, ids of answers that are over and have entries, by the time of their end
-- idempotent-bytes-of:<owner>        hash, id of each key of the owner to its bytes
-- idempotent-bytes                   sorted set, owners by their bytes
-- idempotent-total                   string, the bytes of all owners
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   id  digest of the idempotency key
local owner, id = args.owner, args.id

-- Maximum of keys that one sweep removes.
local maxSweptAtOnce = 100
-- Bytes that are counted for each key in addition to the bytes of its answer.
local recordBytes = 512

local function nameOf(kind, ofOwner, ofId)
  return prefix .. 'idempotent-' .. kind .. ':' .. ofOwner .. ':' .. ofId
end

local record = nameOf('answer', owner, id)
local readField, readNumber = fieldsOf(record)
local events = nameOf('events', owner, id)
local followers = nameOf('followers', owner, id)

-- Adds bytes of a key to the counts; a number below 0 subtracts bytes.
local function countBytes(ofOwner, ofId, bytes)
  redis.call('HINCRBY', prefix .. 'idempotent-bytes-of:' .. ofOwner, ofId, whole(bytes))
  redis.call('INCRBY', prefix .. 'idempotent-total', whole(bytes))
  if tonumber(redis.call('ZINCRBY', prefix .. 'idempotent-bytes', whole(bytes), ofOwner)) <= 0 then
    redis.call('ZREM', prefix .. 'idempotent-bytes', ofOwner)
  end
end

local function readBytes(ofOwner, ofId)
  return tonumber(redis.call('HGET', prefix .. 'idempotent-bytes-of:' .. ofOwner, ofId) or 0)
end

-- Removes a key and everything that is stored about it.
local function forget(ofOwner, ofId)
  for _, kind in ipairs({ 'answer', 'events', 'followers' }) do
    redis.call('UNLINK', nameOf(kind, ofOwner, ofId))
  end
  redis.call('ZREM', prefix .. 'idempotent-expiries', ofOwner .. ' ' .. ofId)
  redis.call('ZREM', prefix .. 'idempotent-ended-of:' .. ofOwner, ofId)
  countBytes(ofOwner, ofId, -readBytes(ofOwner, ofId))
  redis.call('HDEL', prefix .. 'idempotent-bytes-of:' .. ofOwner, ofId)
end

-- Removes the entries of an answer, and marks the answer as lost.
local function dropEntries(ofOwner, ofId)
  if redis.call('EXISTS', nameOf('answer', ofOwner, ofId)) == 0 then
    forget(ofOwner, ofId)
    return
  end
  redis.call('UNLINK', nameOf('events', ofOwner, ofId))
  redis.call('ZREM', prefix .. 'idempotent-ended-of:' .. ofOwner, ofId)
  redis.call('HSET', nameOf('answer', ofOwner, ofId), 'isLost', 1)
  countBytes(ofOwner, ofId, recordBytes - readBytes(ofOwner, ofId))
end

-- Removes keys that have expired. Redis has removed their records already, but their bytes are still counted.
local function sweep()
  local expired = redis.call('ZRANGEBYSCORE', prefix .. 'idempotent-expiries', '-inf', whole(now), 'LIMIT', 0, maxSweptAtOnce)
  for _, member in ipairs(expired) do
    forget(string.match(member, '^(%S+) (.+)$'))
  end
end

-- Sets this key to expire after `ms` milliseconds.
local function expireAfter(ms)
  redis.call('ZADD', prefix .. 'idempotent-expiries', whole(now + ms), owner .. ' ' .. id)
  for _, name in ipairs({ record, events, followers }) do
    redis.call('PEXPIREAT', name, whole(now + ms))
  end
end

-- Makes room for bytes of the owner. While the owner has too many bytes, the entries of the owner's oldest finished answer are removed.
-- While all owners together have too many bytes, the entries of the oldest finished answer of the owner with the most bytes are removed. If
-- that is another owner without a finished answer, the entries of its largest answer are removed. Returns whether there is enough room now.
local function makeRoom(bytes)
  local function dropOldest(ofOwner)
    local oldest = redis.call('ZRANGE', prefix .. 'idempotent-ended-of:' .. ofOwner, 0, 0)[1]
    if oldest then
      dropEntries(ofOwner, oldest)
    end
    return oldest
  end
  local function dropLargest(ofOwner)
    local largest, maxBytes = nil, recordBytes
    local sizes = redis.call('HGETALL', prefix .. 'idempotent-bytes-of:' .. ofOwner)
    for index = 1, #sizes, 2 do
      if tonumber(sizes[index + 1]) > maxBytes then
        largest, maxBytes = sizes[index], tonumber(sizes[index + 1])
      end
    end
    if largest then
      dropEntries(ofOwner, largest)
    end
    return largest
  end
  while tonumber(redis.call('ZSCORE', prefix .. 'idempotent-bytes', owner) or 0) + bytes > args.ownerBytes do
    if not dropOldest(owner) then
      return false
    end
  end
  while tonumber(redis.call('GET', prefix .. 'idempotent-total') or 0) + bytes > args.totalBytes do
    local largestOwner = redis.call('ZREVRANGE', prefix .. 'idempotent-bytes', 0, 0)[1] or owner
    if not dropOldest(largestOwner) and (largestOwner == owner or not dropLargest(largestOwner)) then
      return false
    end
  end
  return true
end

-- Returns whether the execution of this call has the key.
local function hasKey()
  return readField('attempt') == args.attempt and readField('state') == 'running'
end

-- Returns whether the lease of an execution counts. Nobody can renew leases in an outage of Redis. So after an outage, leases that have run
-- out count for as long as a lease lasts.
--
-- Arguments of the script:
--   wasAway  whether the caller's connection to Redis was established less than the length of a lease ago
local function isLeased(leaseUntil)
  return leaseUntil > now or args.wasAway
end

-- Returns how many followers wait for the answer.
local function countFollowers()
  redis.call('ZREMRANGEBYSCORE', followers, '-inf', whole(now))
  return redis.call('ZCARD', followers)
end

local function publishChange(change)
  redis.call('PUBLISH', prefix .. 'background-changes:' .. args.attempt, change)
end
