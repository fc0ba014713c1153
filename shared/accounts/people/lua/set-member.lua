-- Makes a person a member of a team, or changes the role of a member.
--
-- KEYS[1]  record of the team (hash)
-- KEYS[2]  its members (hash: user to role)
-- KEYS[3]  record of the user (hash)
-- KEYS[4]  the user's teams (hash: team to role)
-- ARGV[1]  JSON:
--   teamId
--   userId
--   role
--   onlyNew  whether to leave the role of an existing member unchanged
-- Returns the previous role, '' for a new member, or 'unknown' when the team or the person does not exist.
local team, members, user, teamsOfUser = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', team) == 0 or redis.call('EXISTS', user) == 0 then
  return 'unknown'
end
local before = redis.call('HGET', members, args.userId)
if before and args.onlyNew then
  return before
end
redis.call('HSET', members, args.userId, args.role)
redis.call('HSET', teamsOfUser, args.teamId, args.role)
return before or ''
