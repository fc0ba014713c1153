-- Changes fields of a team.
--
-- KEYS[1]  record of the team (hash)
-- ARGV[1…] fields: name, value, name, value, …
-- Returns 1, or 0 when there is no such team.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1
