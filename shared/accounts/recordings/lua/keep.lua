-- Stores a recording. Removes an earlier recording of the same owner with the same id.
--
-- ARGV[1]  JSON, besides prefix:
--   owner, id, party  see recordings.lua
--   key            id of the key of the request
--   keepMs         milliseconds for which the recording is kept
--   maxRecordings  maximum of recordings of an owner
--   ownerBytes     maximum bytes of an owner's recordings; the oldest are removed first
--   totalBytes     maximum bytes of all recordings; the oldest of the owner with the most bytes are removed first
-- ARGV[2]  the description of the request, sealed
-- ARGV[3]  its body, sealed
-- ARGV[4]  its answer, sealed
-- Returns 'kept'; 'full' if there is no room; 'gone' if the key is revoked or unknown, because the recordings of its owner may have been
-- removed already.
sweep()
local owner, id, party = args.owner, args.id, args.party
local keyRecord = prefix .. 'key:' .. args.key
if redis.call('EXISTS', keyRecord) == 0 or redis.call('HEXISTS', keyRecord, 'revokedAt') == 1 then
  return 'gone'
end
forget(owner, id)
local bytes = recordBytes + #ARGV[2] + #ARGV[3] + #ARGV[4]
if bytes > args.ownerBytes or bytes > args.totalBytes then
  return 'full'
end

-- Removes the oldest recording of an owner. Returns whether the owner had a recording.
local function forgetOldest(ofOwner)
  local oldest = redis.call('ZRANGE', base .. 'of:' .. ofOwner, 0, 0)[1]
  if not oldest then
    return false
  end
  forget(ofOwner, oldest)
  return true
end

local function readOwnerBytes()
  return tonumber(redis.call('ZSCORE', base .. 'bytes', owner) or 0)
end

while redis.call('ZCARD', base .. 'of:' .. owner) >= args.maxRecordings or readOwnerBytes() + bytes > args.ownerBytes do
  if not forgetOldest(owner) then
    return 'full'
  end
end
while tonumber(redis.call('GET', base .. 'total') or 0) + bytes > args.totalBytes do
  local largest = redis.call('ZREVRANGE', base .. 'bytes', 0, 0)[1]
  if not largest or not forgetOldest(largest) then
    return 'full'
  end
end

local record = recordName(owner, id)
local member = owner .. '/' .. id
redis.call('HSET', record, 'at', whole(now), 'facts', ARGV[2], 'request', ARGV[3], 'answer', ARGV[4])
redis.call('PEXPIRE', record, whole(args.keepMs))
redis.call('ZADD', base .. 'of:' .. owner, whole(now), id)
redis.call('ZADD', base .. 'seen-by:' .. party, whole(now), member)
redis.call('ZADD', base .. 'all', whole(now), member)
redis.call('HSET', base .. 'entries-of:' .. owner, id, whole(bytes) .. ' ' .. party)
redis.call('ZADD', base .. 'expiries', whole(now + args.keepMs), whole(bytes) .. '/' .. party .. '/' .. member)
redis.call('SADD', base .. 'request:' .. id, owner)
redis.call('ZINCRBY', base .. 'bytes', whole(bytes), owner)
redis.call('INCRBY', base .. 'total', whole(bytes))

-- Each list expires no earlier than its entries, even if `keepMs` has become shorter.
local lists = { 'of:' .. owner, 'entries-of:' .. owner, 'seen-by:' .. party, 'request:' .. id, 'all', 'expiries', 'bytes', 'total' }
for _, name in ipairs(lists) do
  if redis.call('PTTL', base .. name) < args.keepMs then
    redis.call('PEXPIRE', base .. name, whole(args.keepMs))
  end
end
return 'kept'
