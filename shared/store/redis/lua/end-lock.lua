-- Releases a lock of a caller. A lock that has expired, and that another caller has by now, stays.
--
-- KEYS[1]  the lock (string: the mark of its holder, expires)
-- ARGV[1]  JSON:
--   mark   the mark of the caller
-- Returns 1, or 0 if the caller does not have the lock.
if redis.call('GET', KEYS[1]) == cjson.decode(ARGV[1]).mark then
  return redis.call('DEL', KEYS[1])
end
return 0
