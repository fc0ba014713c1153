-- Makes a person a member of a team, or gives a member another role.
--
-- KEYS[1]  record of the team (hash)
-- KEYS[2]  its members (hash: user to role)
-- KEYS[3]  record of the user (hash)
-- KEYS[4]  the user's teams (hash: team to role)
-- ARGV[1]  id of the team
-- ARGV[2]  id of the user
-- ARGV[3]  role
-- Returns the role before, '' for somebody new, or 'unknown' when the team or the person does not exist.
if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('EXISTS', KEYS[3]) == 0 then
  return 'unknown'
end
local before = redis.call('HGET', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[4], ARGV[1], ARGV[3])
return before or ''
