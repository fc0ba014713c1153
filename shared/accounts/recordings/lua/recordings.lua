-- The functions that the scripts of recordings share. This file is prepended to each of them, after script-start.lua. The scripts build
-- names themselves, so they do not run on a Redis cluster.
--
-- recordings:recording:<owner>/<id>  hash, expires: one recorded request of an owner, by the id of the request
--   at                      when it was stored
--   facts, request, answer  the description of the request, its body and its answer, all sealed
-- recordings:of:<owner>          sorted set, ids by the time at which they were stored
-- recordings:seen-by:<party>     sorted set, `<owner>/<id>` of the recordings that a party may see, by the same time. A party is
--                                `user:<id>`, `team:<id>`, or `key:<id>` of a router key.
-- recordings:all                 sorted set, `<owner>/<id>` of all recordings, by the same time
-- recordings:entries-of:<owner>  hash, id to `<bytes> <party>`
-- recordings:expiries            sorted set, `<bytes>/<party>/<owner>/<id>` by the time at which the recording expires
-- recordings:request:<id>        set, the owners who have a recording with the id. There may be several, because clients choose the ids.
-- recordings:bytes               sorted set, owners by the bytes of their recordings
-- recordings:total               string, the bytes of the recordings of all owners
--
-- All of these expire.
local base = prefix .. 'recordings:'

-- Maximum of recordings that one sweep removes.
local maxSweptAtOnce = 100
-- Bytes that are counted for each recording in addition to the bytes of its content.
local recordBytes = 1024

local function recordName(owner, id)
  return base .. 'recording:' .. owner .. '/' .. id
end

-- Removes a recording. The caller knows its bytes and party.
local function drop(bytes, party, owner, id)
  local member = owner .. '/' .. id
  redis.call('UNLINK', recordName(owner, id))
  redis.call('ZREM', base .. 'of:' .. owner, id)
  redis.call('HDEL', base .. 'entries-of:' .. owner, id)
  redis.call('ZREM', base .. 'seen-by:' .. party, member)
  redis.call('ZREM', base .. 'all', member)
  redis.call('SREM', base .. 'request:' .. id, owner)
  -- If a sweep has removed the recording already, its bytes no longer count.
  if redis.call('ZREM', base .. 'expiries', whole(bytes) .. '/' .. party .. '/' .. member) == 0 then
    return
  end
  redis.call('DECRBY', base .. 'total', whole(bytes))
  if tonumber(redis.call('ZINCRBY', base .. 'bytes', whole(-bytes), owner)) <= 0 then
    redis.call('ZREM', base .. 'bytes', owner)
  end
end

-- Removes a recording. Returns whether there was such a recording.
local function forget(owner, id)
  local entry = redis.call('HGET', base .. 'entries-of:' .. owner, id)
  if not entry then
    redis.call('ZREM', base .. 'of:' .. owner, id)
    return false
  end
  local bytes, party = string.match(entry, '^(%d+) (.+)$')
  drop(tonumber(bytes), party, owner, id)
  return true
end

-- Removes recordings that have expired. Redis has removed their records already, but their bytes are still counted.
local function sweep()
  local expired = redis.call('ZRANGEBYSCORE', base .. 'expiries', '-inf', whole(now), 'LIMIT', 0, maxSweptAtOnce)
  for _, member in ipairs(expired) do
    local bytes, party, owner, id = string.match(member, '^(%d+)/([^/]+)/([^/]+)/(.+)$')
    drop(tonumber(bytes), party, owner, id)
  end
end
