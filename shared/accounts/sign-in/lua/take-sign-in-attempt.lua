-- Counts a try to sign in for several subjects. If a subject has the maximum of tries already, the try is not counted, and tries of this
-- subject are refused for a while. Each further refusal of the subject lasts twice as long.
--
-- KEYS     for each subject: its tries (hash: count, countedUntil, strikes, until). The last key: the number of refusals that began this
--          hour (string).
-- ARGV[1]  JSON:
--   now         ms since 1970
--   maxTries    maximum of tries of each subject in a window, a list
--   windowMs    milliseconds of the window, and of the first refusal
--   maxWaitMs   maximum milliseconds of a refusal
--   maxAudited  maximum of refusals of one hour that get an entry in the audit trail
-- Returns {0, 0} if the try may be made, else {milliseconds to wait, 1 if this call began a refusal that gets an entry, else 0}.
local args = cjson.decode(ARGV[1])
local refusals = KEYS[#KEYS]
local waitMs = 0

-- Returns the tries of a subject in the current window. The tries of an earlier window do not count.
local function countOf(attempts)
  local count, countedUntil = unpack(redis.call('HMGET', attempts, 'count', 'countedUntil'))
  -- An earlier release stores no end of the window.
  local isOver = countedUntil and tonumber(countedUntil) <= args.now
  return isOver and 0 or tonumber(count or 0)
end

for at = 1, #args.maxTries do
  local refusedUntil = tonumber(redis.call('HGET', KEYS[at], 'until') or 0)
  waitMs = math.max(waitMs, refusedUntil - args.now)
end
if waitMs > 0 then
  return { waitMs, 0 }
end
for at, max in ipairs(args.maxTries) do
  local attempts = KEYS[at]
  if countOf(attempts) >= max then
    local strikes = redis.call('HINCRBY', attempts, 'strikes', 1)
    local durationMs = math.min(args.maxWaitMs, args.windowMs * 2 ^ (strikes - 1))
    redis.call('HSET', attempts, 'count', 0, 'until', args.now + durationMs)
    redis.call('PEXPIRE', attempts, durationMs * 2 + args.windowMs)
    waitMs = math.max(waitMs, durationMs)
  end
end
if waitMs > 0 then
  local begunThisHour = redis.call('INCR', refusals)
  if begunThisHour == 1 then
    redis.call('PEXPIRE', refusals, 3600000)
  end
  return { waitMs, begunThisHour <= args.maxAudited and 1 or 0 }
end
for at = 1, #args.maxTries do
  local count = countOf(KEYS[at])
  redis.call('HSET', KEYS[at], 'count', count + 1)
  if count == 0 then
    redis.call('HSET', KEYS[at], 'countedUntil', args.now + args.windowMs)
    -- Strikes end at their time, however many tries come before it.
    if redis.call('HEXISTS', KEYS[at], 'strikes') == 0 and redis.call('PTTL', KEYS[at]) < args.windowMs then
      redis.call('PEXPIRE', KEYS[at], args.windowMs)
    end
  end
end
return { 0, 0 }
