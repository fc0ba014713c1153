-- Stores a new key, if its owner exists, and lets the key that it succeeds expire, if it succeeds one.
-- An owner has a bounded number of keys: the oldest one that is of no use any more gives way to a new one.
--
-- KEYS[1]  record of the new key (hash)
-- KEYS[2]  index of all keys (sorted set: id by creation time)
-- KEYS[3]  marker that a router key was made (string: id of the first one)
-- KEYS[4]  record of the owner (hash); looked at if ARGV[3] is '1'
-- KEYS[5]  index of the owner's keys (sorted set: id by creation time); used if ARGV[3] is '1'
-- KEYS[6]  record of the key to succeed (hash); used if ARGV[4] is not ''
-- KEYS[7]  last uses (hash: id to time)
-- ARGV[1]  id of the new key
-- ARGV[2]  creation time, ms since 1970
-- ARGV[3]  '1' when the key has an owner
-- ARGV[4]  time at which the key to succeed expires, ms since 1970; '' when the new key succeeds none
-- ARGV[5]  keys that an owner may have
-- ARGV[6]  what the names of keys' records begin with
-- ARGV[7]  '1' for a router key
-- ARGV[8…] fields of the record: name, value, name, value, …
-- Returns 'created', 'no owner', 'too many', or 'not usable' when the key to succeed is revoked, expired, replaced or unknown.
local now = tonumber(ARGV[2])

local function isOver(record)
  local revokedAt, expiresAt = unpack(redis.call('HMGET', record, 'revokedAt', 'expiresAt'))
  return revokedAt or (expiresAt and tonumber(expiresAt) <= now)
end

if ARGV[4] ~= '' then
  local unknown = redis.call('EXISTS', KEYS[6]) == 0
  if unknown or isOver(KEYS[6]) or redis.call('HEXISTS', KEYS[6], 'replacedBy') == 1 then
    return 'not usable'
  end
end
if ARGV[3] == '1' then
  if redis.call('EXISTS', KEYS[4]) == 0 then
    return 'no owner'
  end
  if redis.call('ZCARD', KEYS[5]) >= tonumber(ARGV[5]) then
    local gone
    for _, id in ipairs(redis.call('ZRANGE', KEYS[5], 0, -1)) do
      if isOver(ARGV[6] .. id) then
        gone = id
        break
      end
    end
    if not gone then
      return 'too many'
    end
    redis.call('DEL', ARGV[6] .. gone)
    redis.call('ZREM', KEYS[5], gone)
    redis.call('ZREM', KEYS[2], gone)
    redis.call('HDEL', KEYS[7], gone)
  end
  redis.call('ZADD', KEYS[5], now, ARGV[1])
end
redis.call('HSET', KEYS[1], unpack(ARGV, 8))
redis.call('ZADD', KEYS[2], now, ARGV[1])
if ARGV[7] == '1' then
  redis.call('SET', KEYS[3], ARGV[1], 'NX')
end
if ARGV[4] ~= '' then
  local expiresAt = tonumber(redis.call('HGET', KEYS[6], 'expiresAt') or ARGV[4])
  redis.call('HSET', KEYS[6], 'replacedBy', ARGV[1], 'expiresAt', string.format('%.0f', math.min(expiresAt, tonumber(ARGV[4]))))
end
return 'created'
