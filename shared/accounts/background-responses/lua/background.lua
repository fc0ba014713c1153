-- Common functions of the scripts in this folder. This file is prepended to each of them, after script-start.lua. All names begin with one
-- prefix. An owner is the id of a person, a team or a key, and contains no spaces.
--
--   <prefix>background-response:<id>      hash: a BackgroundRecord
--   <prefix>background-texts:<id>         hash: its sealed texts; `request` and `queued` until the response is over, then `final`
--   <prefix>background-events:<id>        stream: events of its stream, sealed, in the field `e`; the id of an entry is the number of its
--                                         last event plus one
--   <prefix>background-open               sorted set: ids of all unfinished responses, by the time at which they were created
--   <prefix>background-open-of:<owner>    sorted set: ids of an owner's unfinished responses, by the same time
--   <prefix>background-ended              sorted set: `<owner> <id>` of all responses that are over, by the time at which they ended
--   <prefix>background-ended-of:<owner>   sorted set: ids of an owner's responses that are over, by the same time
--   <prefix>background-expiries           sorted set: `<owner> <id>` of all responses, by the time at which they expire
--   <prefix>background-bytes-of:<owner>   hash: id of each response of an owner to the bytes of its texts and events
--   <prefix>background-bytes              sorted set: owners, by the bytes of their responses
--   <prefix>background-open-bytes         sorted set: owners, by the bytes of their unfinished responses
--   <prefix>background-total              string: bytes of the responses of all owners
--   <prefix>background-changes:<id>       channel: the message `events` after further events were added, `over` when the response has ended
--
-- The scripts compute names themselves, so they do not run on a Redis cluster.
--
-- ARGV[1]  JSON, besides prefix:
--   id  of the response
local record = prefix .. 'background-response:' .. args.id
local field, number = fieldsOf(record)
local texts = prefix .. 'background-texts:' .. args.id
local events = prefix .. 'background-events:' .. args.id

-- Maximum number of responses that one sweep removes.
local sweptAtOnce = 20

-- Adds bytes of an unfinished response to the counts. A negative number subtracts.
local function countOpenBytes(owner, bytes)
  local name = prefix .. 'background-open-bytes'
  if tonumber(redis.call('ZINCRBY', name, whole(bytes), owner)) <= 0 then
    redis.call('ZREM', name, owner)
  end
end

-- Adds bytes of a response to the counts. A negative number subtracts.
local function countBytes(owner, id, bytes)
  if bytes == 0 then
    return
  end
  if redis.call('ZSCORE', prefix .. 'background-open-of:' .. owner, id) then
    countOpenBytes(owner, bytes)
  end
  redis.call('HINCRBY', prefix .. 'background-bytes-of:' .. owner, id, whole(bytes))
  redis.call('INCRBY', prefix .. 'background-total', whole(bytes))
  if tonumber(redis.call('ZINCRBY', prefix .. 'background-bytes', whole(bytes), owner)) <= 0 then
    redis.call('ZREM', prefix .. 'background-bytes', owner)
  end
end

local function readBytes(owner, id)
  return tonumber(redis.call('HGET', prefix .. 'background-bytes-of:' .. owner, id) or 0)
end

-- Removes a response from the unfinished responses, if it is one of them.
local function removeFromOpen(owner, id)
  redis.call('ZREM', prefix .. 'background-open', id)
  if redis.call('ZREM', prefix .. 'background-open-of:' .. owner, id) == 1 then
    countOpenBytes(owner, -readBytes(owner, id))
  end
end

-- Sets this response to expire after `ms` milliseconds. If no sweep removes it then, its record, texts and events expire a day later.
local function expireAfter(owner, ms)
  redis.call('ZADD', prefix .. 'background-expiries', whole(now + ms), owner .. ' ' .. args.id)
  for _, name in ipairs({ record, texts, events }) do
    redis.call('PEXPIREAT', name, whole(now + ms + 86400000))
  end
end

-- Removes the events of this response.
local function dropEvents(owner)
  redis.call('UNLINK', events)
  countBytes(owner, args.id, -number('eventBytes'))
  redis.call('HSET', record, 'eventBytes', 0)
end

-- Removes the events of this response and stops keeping further events.
local function stopKeepingEvents(owner)
  dropEvents(owner)
  redis.call('HSET', record, 'eventsGone', 1)
end

-- Removes a response and everything that is stored about it.
local function forget(owner, id)
  local member = owner .. ' ' .. id
  redis.call('ZREM', prefix .. 'background-expiries', member)
  removeFromOpen(owner, id)
  redis.call('ZREM', prefix .. 'background-ended', member)
  redis.call('ZREM', prefix .. 'background-ended-of:' .. owner, id)
  countBytes(owner, id, -readBytes(owner, id))
  redis.call('HDEL', prefix .. 'background-bytes-of:' .. owner, id)
  for _, kind in ipairs({ 'response', 'texts', 'events' }) do
    redis.call('UNLINK', prefix .. 'background-' .. kind .. ':' .. id)
  end
end

-- Removes this response, which is over. If it was cancelled during a run, its record stays, hidden from its owner, until the use of the run
-- is counted, at most `chargedMs` milliseconds.
local function remove(owner, chargedMs)
  if field('state') ~= 'cancelled' or (field('attempt') or '') == '' or field('charged') then
    forget(owner, args.id)
    return
  end
  dropEvents(owner)
  redis.call('UNLINK', texts)
  redis.call('HSET', record, 'deletedAt', whole(now))
  expireAfter(owner, chargedMs)
end

-- Returns the owner and the id in a member of the form `<owner> <id>`.
local function split(member)
  return string.match(member, '^(%S+) (.+)$')
end

-- Removes responses that have expired.
local function sweep()
  -- An earlier release does not update these counts when it ends a response. So an owner without unfinished responses may still have a
  -- count.
  local largestOwner = redis.call('ZREVRANGE', prefix .. 'background-open-bytes', 0, 0)[1]
  if largestOwner and redis.call('EXISTS', prefix .. 'background-open-of:' .. largestOwner) == 0 then
    redis.call('ZREM', prefix .. 'background-open-bytes', largestOwner)
  end
  local expired = redis.call('ZRANGEBYSCORE', prefix .. 'background-expiries', '-inf', whole(now), 'LIMIT', 0, sweptAtOnce)
  for _, member in ipairs(expired) do
    forget(split(member))
  end
end

-- Makes room for bytes of an owner by removing responses that are over, the oldest first. Removes responses of this owner while the owner
-- has too many bytes, then responses of the owner with the most bytes while all owners together have too many. Returns whether there is
-- enough room now. The unfinished responses of an owner may take at most half of the room that the unfinished responses of all others
-- leave, so that a few owners cannot take the room of everybody else.
local function makeRoom(owner, bytes, ownerBytes, totalBytes)
  local wanted, others = bytes, 0
  local owners = redis.call('ZRANGE', prefix .. 'background-open-bytes', 0, -1, 'WITHSCORES')
  for at = 1, #owners, 2 do
    if owners[at] == owner then
      wanted = wanted + tonumber(owners[at + 1])
    else
      others = others + tonumber(owners[at + 1])
    end
  end
  if wanted > (totalBytes - others) / 2 then
    return false
  end
  local function readOwnerBytes()
    return tonumber(redis.call('ZSCORE', prefix .. 'background-bytes', owner) or 0)
  end
  local function readTotalBytes()
    return tonumber(redis.call('GET', prefix .. 'background-total') or 0)
  end
  while readOwnerBytes() + bytes > ownerBytes do
    local oldest = redis.call('ZRANGE', prefix .. 'background-ended-of:' .. owner, 0, 0)[1]
    if not oldest then
      return false
    end
    forget(owner, oldest)
  end
  while readTotalBytes() + bytes > totalBytes do
    local largestOwner = redis.call('ZREVRANGE', prefix .. 'background-bytes', 0, 0)[1]
    local oldestOfLargest = largestOwner and redis.call('ZRANGE', prefix .. 'background-ended-of:' .. largestOwner, 0, 0)[1]
    local oldest = redis.call('ZRANGE', prefix .. 'background-ended', 0, 0)[1]
    if oldestOfLargest then
      forget(largestOwner, oldestOfLargest)
    elseif oldest then
      forget(split(oldest))
    else
      return false
    end
  end
  return true
end

-- Adds events to the stream, unless the events of this response are no longer kept. `last` is the number of the last event.
local function addEvents(owner, sealed, last)
  redis.call('HSET', record, 'next', whole(last + 1))
  if field('eventsGone') then
    return
  end
  redis.call('XADD', events, whole(last + 1) .. '-0', 'e', sealed)
  redis.call('HINCRBY', record, 'eventBytes', #sealed)
  countBytes(owner, args.id, #sealed)
end

local function publishChange(change)
  redis.call('PUBLISH', prefix .. 'background-changes:' .. args.id, change)
end

local function isOpen()
  local state = field('state')
  return state == 'queued' or state == 'in_progress'
end
