-- Renames an existing person.
--
-- KEYS[1]  record of the user (hash)
-- ARGV[1]  JSON:
--   name
-- Returns 1, or 0 when there is no such person.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'name', cjson.decode(ARGV[1]).name)
return 1
