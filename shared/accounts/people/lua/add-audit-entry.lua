-- Adds a note to the audit trail: as a new entry, or merged into an entry of the same action that was added shortly before. The merged
-- entry becomes the newest entry, its count rises by one, and it keeps the notes of all its changes. If its notes are too many or too long,
-- a new entry begins. Every entry counts against one quota. If the quota is full, its oldest entry is removed.
--
-- KEYS[1]  index of all entries (sorted set: an id is its own score)
-- KEYS[2]  index of the entries of the quota (sorted set: an id is its own score)
-- KEYS[3]  the latest entry of this action (string: its id, expires); unused without `mergeMs`
-- ARGV[1]  JSON:
--   entryPrefix  start of the names of entries (hash that expires: note, at, since, count; if several notes are merged, `first` is the
--                first note, and `between` has the notes between the first and the last, one on each line)
--   note         JSON of what happened
--   maxEntries   maximum number of entries of the quota
--   keptMs       milliseconds for which an entry is kept
--   maxMerged    maximum number of notes in an entry
--   maxBetween   once `between` has this many bytes, no other note is merged
--   mergeMs      milliseconds after the first note of an entry for which further notes are merged with it; absent to merge none
-- Returns the entry's id: the time in ms since 1970 and three more digits, larger than every earlier id.
local removedAtOnce = 100
local index, quota, latest = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local newest = tonumber(redis.call('ZREVRANGE', index, 0, 0)[1] or '0')
local id = string.format('%.0f', math.max(now * 1000, newest + 1))
local entry = args.entryPrefix .. id

local function hasRoom(old)
  local count = tonumber(redis.call('HGET', old, 'count') or '0')
  return count > 0 and count < args.maxMerged and redis.call('HSTRLEN', old, 'between') < args.maxBetween
end

local latestId = args.mergeMs and redis.call('GET', latest)
if latestId and hasRoom(args.entryPrefix .. latestId) then
  redis.call('RENAME', args.entryPrefix .. latestId, entry)
  local note = redis.call('HGET', entry, 'note')
  if redis.call('HSETNX', entry, 'first', note) == 0 then
    -- JSON has no line breaks.
    local between = redis.call('HGET', entry, 'between')
    redis.call('HSET', entry, 'between', between and between .. '\n' .. note or note)
  end
  redis.call('ZREM', index, latestId)
  redis.call('ZREM', quota, latestId)
  redis.call('SET', latest, id, 'KEEPTTL')
else
  redis.call('HSET', entry, 'since', now)
  if args.mergeMs then
    redis.call('SET', latest, id, 'PX', args.mergeMs)
  end
end
redis.call('HINCRBY', entry, 'count', 1)
redis.call('HSET', entry, 'note', args.note, 'at', now)
redis.call('PEXPIRE', entry, args.keptMs)

local tooOld = string.format('%.0f', (now - args.keptMs) * 1000)
-- Entries may be older than `keptMs`, because `keptMs` was longer when they were written.
for _, old in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', tooOld, 'LIMIT', 0, removedAtOnce)) do
  redis.call('DEL', args.entryPrefix .. old)
  redis.call('ZREM', index, old)
end
redis.call('ZREMRANGEBYSCORE', quota, '-inf', tooOld)
redis.call('ZADD', index, id, id)
redis.call('ZADD', quota, id, id)
redis.call('PEXPIRE', quota, args.keptMs)
while redis.call('ZCARD', quota) > args.maxEntries do
  local oldest = redis.call('ZPOPMIN', quota)[1]
  redis.call('ZREM', index, oldest)
  redis.call('DEL', args.entryPrefix .. oldest)
end
return id
