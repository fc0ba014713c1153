-- The functions that the scripts of idempotent answers share. This file is prepended to each of them, after journal.lua. The id of an answer
-- is `<owner>:<digest of the idempotency key>`.
--
-- idempotent-answer:<id>     hash, expires: a key of an owner, and its last execution; besides the fields that journal.lua names:
--   number      number of earlier executions with the key
--   state       `running` or `over`
--   leaseUntil  when the key becomes free, if the execution does not renew its lease
--   facts       endpoint and digest of the request, sealed
--   head        status and headers of the answer, sealed; absent until they are known
--   kind        of an answer that is over: `whole`, `cut` (its connection was closed before its end) or `cancelled`
--   repetitions number of requests with the key that were not executed; absent for 0
--   isFree      set if the next request with the key is executed
-- idempotent-followers:<id>  sorted set, expires: waiting followers, by the time until which each counts as waiting

-- Bytes that are counted for each key in addition to the bytes of its answer.
local recordBytes = 512

-- Removes the events of an answer of any owner. Its bytes are set instead of reduced, so that a wrong count is not found again.
local function loseEvents(ofOwner, ofId)
  stopKeepingEvents(ofOwner, ofId)
  redis.call('ZREM', names .. 'ended-of:' .. ofOwner, ofId)
  local bytes = readBytes(ofOwner, ofId)
  if bytes > recordBytes then
    countBytes(ofOwner, ofId, recordBytes - bytes)
  end
end

-- Makes room for bytes of the owner, by removing the events of answers. If the owner with the most bytes is another owner without an answer
-- that is over, the events of its largest answer go.
local function makeRoom(bytes)
  local function evict(ofOwner)
    local oldest = findOldestEnded(ofOwner)
    if oldest then
      loseEvents(ofOwner, oldest)
    end
    return oldest
  end
  local function evictLargest(ofOwner)
    local largest, maxBytes = nil, recordBytes
    local sizes = ofOwner == owner and {} or redis.call('HGETALL', names .. 'bytes-of:' .. ofOwner)
    for index = 1, #sizes, 2 do
      if tonumber(sizes[index + 1]) > maxBytes then
        largest, maxBytes = sizes[index], tonumber(sizes[index + 1])
      end
    end
    if largest then
      loseEvents(ofOwner, largest)
    end
    return largest
  end
  return makeRoomBy(bytes, evict, evictLargest)
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
  local followers = names .. 'followers:' .. name
  redis.call('ZREMRANGEBYSCORE', followers, '-inf', whole(now))
  return redis.call('ZCARD', followers)
end
