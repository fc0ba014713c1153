-- The functions that the scripts of answer journals share. This file is prepended to each of them, after script-start.lua. The scripts
-- build names themselves, so they do not run on a Redis cluster. An owner is the id of a person, a team or a key, and contains no spaces.
--
-- Names begin with the prefix and the kind, `background-` or `idempotent-`:
--   events:<name>       stream: the sealed events of an answer, in the field `e`; the id of an entry is the number of its last event plus 1
--   expiries            sorted set: `<owner> <id>` by the time at which the answer expires
--   ended-of:<owner>    sorted set: ids of the owner's answers that are over, by the time of their end
--   bytes-of:<owner>    hash: id of each answer of the owner to its bytes
--   bytes               sorted set: owners by the bytes of their answers
--   total               string: the bytes of all owners
-- Names that only background responses have:
--   texts:<name>, open, open-of:<owner>, open-bytes, ended   see background.lua
-- A name that only idempotent answers have:
--   followers:<name>    see answers.lua
-- The name of a background response is its id. That of an idempotent answer is `<owner>:<id>`, because owners may choose equal keys.
-- Fields of an answer's record that all kinds have:
--   state       `running` or `in_progress` while events are added
--   attempt     id of the execution that may add events
--   next        number of the next event
--   eventBytes  bytes of its events
--   eventsGone  of a background response, isLost of an idempotent answer: set if its events are not kept
-- Channel of all kinds:
--   background-changes:<name>  `events` after events were added, `over` when the answer has ended
--
-- ARGV[1]  JSON, besides prefix:
--   kind   `background` or `idempotent`
--   owner  of the answer
--   id     of the answer
local owner, id = args.owner, args.id
local names = prefix .. args.kind .. '-'

-- Maximum of answers that one sweep removes.
local maxSweptAtOnce = 100

local function nameOf(ofOwner, ofId)
  return args.kind == 'background' and ofId or ofOwner .. ':' .. ofId
end

local function recordOf(ofOwner, ofId)
  return names .. (args.kind == 'background' and 'response:' or 'answer:') .. nameOf(ofOwner, ofId)
end

local name = nameOf(owner, id)
local record = recordOf(owner, id)
local field, number = fieldsOf(record)
local events = names .. 'events:' .. name
local lossField = args.kind == 'background' and 'eventsGone' or 'isLost'

-- Adds bytes to a sorted set of owners by their bytes. A negative number subtracts.
local function addToOwner(name, ofOwner, bytes)
  if tonumber(redis.call('ZINCRBY', name, whole(bytes), ofOwner)) <= 0 then
    redis.call('ZREM', name, ofOwner)
  end
end

-- Adds bytes of an answer to the counts. A negative number subtracts.
local function countBytes(ofOwner, ofId, bytes)
  if redis.call('ZSCORE', names .. 'open-of:' .. ofOwner, ofId) then
    addToOwner(names .. 'open-bytes', ofOwner, bytes)
  end
  redis.call('HINCRBY', names .. 'bytes-of:' .. ofOwner, ofId, whole(bytes))
  redis.call('INCRBY', names .. 'total', whole(bytes))
  addToOwner(names .. 'bytes', ofOwner, bytes)
end

local function readBytes(ofOwner, ofId)
  return tonumber(redis.call('HGET', names .. 'bytes-of:' .. ofOwner, ofId) or 0)
end

-- Removes an answer from the unfinished ones, if it is one of them.
local function removeFromOpen(ofOwner, ofId)
  redis.call('ZREM', names .. 'open', ofId)
  if redis.call('ZREM', names .. 'open-of:' .. ofOwner, ofId) == 1 then
    addToOwner(names .. 'open-bytes', ofOwner, -readBytes(ofOwner, ofId))
  end
end

-- Removes an answer and everything that is stored about it.
local function forget(ofOwner, ofId)
  local member = ofOwner .. ' ' .. ofId
  removeFromOpen(ofOwner, ofId)
  redis.call('ZREM', names .. 'ended', member)
  redis.call('ZREM', names .. 'expiries', member)
  redis.call('ZREM', names .. 'ended-of:' .. ofOwner, ofId)
  countBytes(ofOwner, ofId, -readBytes(ofOwner, ofId))
  redis.call('HDEL', names .. 'bytes-of:' .. ofOwner, ofId)
  local ofName = nameOf(ofOwner, ofId)
  redis.call('UNLINK', recordOf(ofOwner, ofId), names .. 'events:' .. ofName, names .. 'texts:' .. ofName)
  redis.call('UNLINK', names .. 'followers:' .. ofName)
end

-- Removes the events of an answer.
local function dropEvents(ofOwner, ofId)
  redis.call('UNLINK', names .. 'events:' .. nameOf(ofOwner, ofId))
  countBytes(ofOwner, ofId, -tonumber(redis.call('HGET', recordOf(ofOwner, ofId), 'eventBytes') or 0))
  redis.call('HSET', recordOf(ofOwner, ofId), 'eventBytes', 0)
end

-- Removes the events of an answer and stops keeping further ones.
local function stopKeepingEvents(ofOwner, ofId)
  if redis.call('EXISTS', recordOf(ofOwner, ofId)) == 0 then
    forget(ofOwner, ofId)
    return
  end
  dropEvents(ofOwner, ofId)
  redis.call('HSET', recordOf(ofOwner, ofId), lossField, 1)
end

-- Returns the owner and the id in a member of the form `<owner> <id>`.
local function split(member)
  return string.match(member, '^(%S+) (.+)$')
end

-- Removes answers that have expired. Redis may have removed their records already, but their bytes are still counted.
local function sweep()
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', names .. 'expiries', '-inf', whole(now), 'LIMIT', 0, maxSweptAtOnce)) do
    forget(split(member))
  end
end

-- Sets this answer to expire after `ms` milliseconds.
local function expireAfter(ms)
  redis.call('ZADD', names .. 'expiries', whole(now + ms), owner .. ' ' .. id)
  for _, expiring in ipairs({ record, events, names .. 'texts:' .. name, names .. 'followers:' .. name }) do
    redis.call('PEXPIREAT', expiring, whole(now + ms))
  end
end

-- Makes room for bytes of the owner: while the owner has too many, by `evict` of this owner; while all owners together have too many, by
-- `evict` of the owner with the most, or else by `evictOther` of that owner. Both functions free bytes, or return nil or false. Returns
-- whether there is enough room now.
--
-- Arguments of the script:
--   ownerBytes  maximum bytes of an owner's answers of this kind
--   totalBytes  maximum bytes of all answers of this kind
local function makeRoomBy(bytes, evict, evictOther)
  while tonumber(redis.call('ZSCORE', names .. 'bytes', owner) or 0) + bytes > args.ownerBytes do
    if not evict(owner) then
      return false
    end
  end
  while tonumber(redis.call('GET', names .. 'total') or 0) + bytes > args.totalBytes do
    local largestOwner = redis.call('ZREVRANGE', names .. 'bytes', 0, 0)[1] or owner
    if not (evict(largestOwner) or evictOther(largestOwner)) then
      return false
    end
  end
  return true
end

-- Returns the id of the owner's answer that ended first.
local function findOldestEnded(ofOwner)
  return redis.call('ZRANGE', names .. 'ended-of:' .. ofOwner, 0, 0)[1]
end

-- Adds events to this answer, of which `last` is the number of the last one.
local function addEvents(sealed, last)
  redis.call('XADD', events, whole(last + 1) .. '-0', 'e', sealed)
  redis.call('PEXPIRE', events, whole(redis.call('PTTL', record)))
  redis.call('HSET', record, 'next', whole(last + 1))
  redis.call('HINCRBY', record, 'eventBytes', #sealed)
  countBytes(owner, id, #sealed)
end

-- Returns whether the execution of this call may add events.
--
-- Arguments of the script:
--   attempt  id of the execution
local function mayAdd()
  local state = field('state')
  return field('attempt') == args.attempt and (state == 'running' or state == 'in_progress')
end

local function publishChange(change)
  redis.call('PUBLISH', prefix .. 'background-changes:' .. name, change)
end
