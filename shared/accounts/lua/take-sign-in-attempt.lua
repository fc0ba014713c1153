-- Takes an attempt to sign in from the allowance of its address and of its account, unless one of them has none left.
-- Whoever has used the allowance up is refused for a while, twice as long every time.
--
-- KEYS[1]  attempts from the address (hash: count, strikes, until)
-- KEYS[2]  attempts at the account (hash, the same)
-- KEYS[3]  refusals that began this hour (number)
-- ARGV[1]  now, ms since 1970
-- ARGV[2]  attempts in a window
-- ARGV[3]  the window, ms; also the first refusal's time
-- ARGV[4]  the longest refusal's time, ms
-- ARGV[5]  beginnings of refusals that are worth telling in an hour
-- Returns { 0, 0 } when the attempt may be made; else { milliseconds to wait, 1 if this began a refusal and that is worth telling }.
local now, most, window, longest = unpack({ tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]) })
local subjects = { KEYS[1], KEYS[2] }
local wait = 0
for _, name in ipairs(subjects) do
  local refusedUntil = tonumber(redis.call('HGET', name, 'until') or 0)
  wait = math.max(wait, refusedUntil - now)
end
if wait > 0 then
  return { wait, 0 }
end
for _, name in ipairs(subjects) do
  if tonumber(redis.call('HGET', name, 'count') or 0) >= most then
    local strikes = redis.call('HINCRBY', name, 'strikes', 1)
    local time = math.min(longest, window * 2 ^ (strikes - 1))
    redis.call('HSET', name, 'count', 0, 'until', string.format('%.0f', now + time))
    redis.call('PEXPIRE', name, string.format('%.0f', time * 2 + window))
    wait = math.max(wait, time)
  end
end
if wait > 0 then
  local begun = redis.call('INCR', KEYS[3])
  if begun == 1 then
    redis.call('PEXPIRE', KEYS[3], 3600000)
  end
  return { wait, begun <= tonumber(ARGV[5]) and 1 or 0 }
end
for _, name in ipairs(subjects) do
  redis.call('HINCRBY', name, 'count', 1)
  if redis.call('PTTL', name) < 0 then
    redis.call('PEXPIRE', name, window)
  end
end
return { 0, 0 }
