-- The functions that the scripts of background responses share. This file is prepended to each of them, after journal.lua.
--
--   <prefix>background-response:<id>      hash: a BackgroundRecord
--   <prefix>background-texts:<id>         hash: its sealed texts; `request` and `queued` until the response is over, then `final`
--   <prefix>background-open               sorted set: ids of all unfinished responses, by the time at which they were created
--   <prefix>background-open-of:<owner>    sorted set: ids of an owner's unfinished responses, by the same time
--   <prefix>background-open-bytes         sorted set: owners, by the bytes of their unfinished responses
--   <prefix>background-ended              sorted set: `<owner> <id>` of all responses that are over, by the time at which they ended
local texts = names .. 'texts:' .. name

-- Removes this response, which is over. If it was cancelled during a run, its record stays, hidden from its owner, until the use of the run
-- is counted, at most `chargedMs` milliseconds.
local function remove(chargedMs)
  if field('state') ~= 'cancelled' or (field('attempt') or '') == '' or field('charged') then
    forget(owner, id)
    return
  end
  dropEvents(owner, id)
  redis.call('UNLINK', texts)
  redis.call('HSET', record, 'deletedAt', whole(now))
  expireAfter(chargedMs)
end

-- Makes room for bytes of the owner by removing responses that are over. If the owner with the most bytes has none, the oldest of all goes.
-- The unfinished responses of an owner may take at most half of the room that the unfinished responses of all others leave, so that a few
-- owners cannot take the room of everybody else.
local function makeRoom(bytes)
  local wanted, others = bytes, 0
  local owners = redis.call('ZRANGE', names .. 'open-bytes', 0, -1, 'WITHSCORES')
  for at = 1, #owners, 2 do
    if owners[at] == owner then
      wanted = wanted + tonumber(owners[at + 1])
    else
      others = others + tonumber(owners[at + 1])
    end
  end
  if wanted > (args.totalBytes - others) / 2 then
    return false
  end
  local function evict(ofOwner)
    local oldest = findOldestEnded(ofOwner)
    if oldest then
      forget(ofOwner, oldest)
    end
    return oldest
  end
  local function evictOldest()
    local oldest = redis.call('ZRANGE', names .. 'ended', 0, 0)[1]
    if oldest then
      forget(split(oldest))
    end
    return oldest
  end
  return makeRoomBy(bytes, evict, evictOldest)
end

local function isOpen()
  local state = field('state')
  return state == 'queued' or state == 'in_progress'
end
