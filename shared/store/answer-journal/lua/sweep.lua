-- Removes some of the answers that have expired.
--
-- ARGV[1]  JSON: prefix and kind (`owner` and `id` are empty)
-- Returns how many expired answers may be left.
-- An earlier release does not update these counts when it ends a response. So an owner without unfinished responses may still have a count.
local largestOwner = redis.call('ZREVRANGE', names .. 'open-bytes', 0, 0)[1]
if largestOwner and redis.call('EXISTS', names .. 'open-of:' .. largestOwner) == 0 then
  redis.call('ZREM', names .. 'open-bytes', largestOwner)
end
sweep()
return redis.call('ZCOUNT', names .. 'expiries', '-inf', whole(now))
