-- Releases a lock, unless it has expired and another caller has it by now.
--
-- KEYS[1]  the lock (string: the mark of its holder, expires)
-- ARGV[1]  JSON:
--   mark   the mark of the caller
-- Returns 1, or 0 when the lock is not the caller's.
if redis.call('GET', KEYS[1]) == cjson.decode(ARGV[1]).mark then
  return redis.call('DEL', KEYS[1])
end
return 0
