-- Stores the names of keys for reports. This file is prepended to the scripts that write into the usage ledger or count refusals.
--
--   <prefix>key-names       hash: each key's name when it was last used, by id
--   <prefix>key-names-used  sorted set: the ids of these keys, by the time of their last use in ms since 1970

local function forgetKeyNames(prefix, ids)
  for _, id in ipairs(ids) do
    redis.call('HDEL', prefix .. 'key-names', id)
    redis.call('ZREM', prefix .. 'key-names-used', id)
  end
end

-- Stores the names of keys that are used now, and removes names that no report needs: names that were last used before the oldest totals,
-- and the least recently used names beyond the maximum.
--
--   names   { id: name }
--   bounds  { at: now, oldest: names that were last used before this time are removed, both in ms since 1970; maxNames }
local function writeKeyNames(prefix, names, bounds)
  local used = prefix .. 'key-names-used'
  -- An earlier release stores no times.
  if redis.call('EXISTS', used) == 0 then
    for _, id in ipairs(redis.call('HKEYS', prefix .. 'key-names')) do
      redis.call('ZADD', used, bounds.at, id)
    end
  end
  for id, name in pairs(names) do
    redis.call('HSET', prefix .. 'key-names', id, name)
    redis.call('ZADD', used, bounds.at, id)
  end
  forgetKeyNames(prefix, redis.call('ZRANGEBYSCORE', used, '-inf', bounds.oldest, 'LIMIT', 0, 100))
  local excess = redis.call('ZCARD', used) - bounds.maxNames
  if excess > 0 then
    forgetKeyNames(prefix, redis.call('ZRANGE', used, 0, math.min(excess, 1000) - 1))
  end
end
