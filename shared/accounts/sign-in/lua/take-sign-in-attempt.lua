-- Counts a try to sign in for several subjects, unless one of the subjects has the maximum of tries. Tries of that subject are then refused
-- for a while, each time for twice as long.
--
-- KEYS     tries of each subject (hash: count, strikes, until); the last one: refusals that began this hour (number)
-- ARGV[1]  JSON:
--   now        ms since 1970
--   most       maximum of tries of each subject in a window
--   windowMs   the window; also how long the first refusal lasts
--   maxWaitMs  maximum duration of a refusal
--   maxNews    maximum of refusals of one hour that get an entry in the audit trail
-- Returns {0, 0} when the try may be made, else {milliseconds to wait, 1 if this call began a refusal that gets an entry, else 0}.
local args = cjson.decode(ARGV[1])
local refusals = KEYS[#KEYS]
local wait = 0
for at = 1, #args.most do
  local refusedUntil = tonumber(redis.call('HGET', KEYS[at], 'until') or 0)
  wait = math.max(wait, refusedUntil - args.now)
end
if wait > 0 then
  return { wait, 0 }
end
for at, most in ipairs(args.most) do
  local attempts = KEYS[at]
  if tonumber(redis.call('HGET', attempts, 'count') or 0) >= most then
    local strikes = redis.call('HINCRBY', attempts, 'strikes', 1)
    local time = math.min(args.maxWaitMs, args.windowMs * 2 ^ (strikes - 1))
    redis.call('HSET', attempts, 'count', 0, 'until', args.now + time)
    redis.call('PEXPIRE', attempts, time * 2 + args.windowMs)
    wait = math.max(wait, time)
  end
end
if wait > 0 then
  local begun = redis.call('INCR', refusals)
  if begun == 1 then
    redis.call('PEXPIRE', refusals, 3600000)
  end
  return { wait, begun <= args.maxNews and 1 or 0 }
end
for at = 1, #args.most do
  redis.call('HINCRBY', KEYS[at], 'count', 1)
  if redis.call('PTTL', KEYS[at]) < 0 then
    redis.call('PEXPIRE', KEYS[at], args.windowMs)
  end
end
return { 0, 0 }
