-- Takes an attempt to sign in from the allowance of its address and from that of its account, unless one of them is used up.
-- An allowance that is used up is refused for a while, twice as long every time.
--
-- KEYS[1]  attempts from the address (hash: count, strikes, until)
-- KEYS[2]  attempts at the account (hash, the same)
-- KEYS[3]  refusals that began this hour (number)
-- ARGV[1]  JSON:
--   now          ms since 1970
--   maxAttempts  in a window
--   windowMs     the window; also how long the first refusal lasts
--   maxWaitMs    how long a refusal lasts at most
--   maxNews      refusals of one hour that are worth an entry in the audit trail
-- Returns {0, 0} when the attempt may be made; else {milliseconds to wait, 1 if this began a refusal that is worth an entry}.
local args = cjson.decode(ARGV[1])
local subjects, refusals = { KEYS[1], KEYS[2] }, KEYS[3]
local wait = 0
for _, attempts in ipairs(subjects) do
  local refusedUntil = tonumber(redis.call('HGET', attempts, 'until') or 0)
  wait = math.max(wait, refusedUntil - args.now)
end
if wait > 0 then
  return { wait, 0 }
end
for _, attempts in ipairs(subjects) do
  if tonumber(redis.call('HGET', attempts, 'count') or 0) >= args.maxAttempts then
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
for _, attempts in ipairs(subjects) do
  redis.call('HINCRBY', attempts, 'count', 1)
  if redis.call('PTTL', attempts) < 0 then
    redis.call('PEXPIRE', attempts, args.windowMs)
  end
end
return { 0, 0 }
