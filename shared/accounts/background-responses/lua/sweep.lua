-- Removes some of the responses that have expired.
--
-- ARGV[1]  JSON: prefix (`id` is empty)
-- Returns how many expired responses may be left.
sweep()
return redis.call('ZCOUNT', prefix .. 'background-expiries', '-inf', whole(now))
