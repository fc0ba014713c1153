-- Creates the account of an invited person, and removes the invitation. If the team no longer exists, the person joins no team. The person
-- gets the role in the stored invitation, even a role that only a newer release defines.
--
-- KEYS[1]  the link (string: id of the invitation)
-- KEYS[2]  record of the invitation (hash)
-- KEYS[3]  index of the invitations (sorted set: id by expiry)
-- KEYS[4]  addresses (hash: address to id)
-- KEYS[5]  record of the new user (hash)
-- KEYS[6]  index of all users (sorted set: id by creation time)
-- KEYS[7]  the administrators who are not blocked (set of ids)
-- KEYS[8]  the new user's teams (hash: team to role)
-- KEYS[9]  record of the team (hash)
-- KEYS[10] members of the team (hash: user to role)
-- ARGV[1]  JSON:
--   invitationId
--   userId
--   email
--   createdAt  ms since 1970
--   teamId     absent for an invitation to no team
--   fields     fields of the new user's record
-- Returns 'created', 'no link', or 'email taken'.
local link, invitation, invitations, emails, user, users, admins, teamsOfUser, team, membersOfTeam = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('GET', link) ~= args.invitationId or redis.call('EXISTS', invitation) == 0 then
  return 'no link'
end
if redis.call('HSETNX', emails, args.email, args.userId) == 0 then
  return 'email taken'
end
local role = redis.call('HGET', invitation, 'role')
redis.call('DEL', link, invitation)
redis.call('ZREM', invitations, args.invitationId)
for name, value in pairs(args.fields) do
  redis.call('HSET', user, name, value)
end
redis.call('HSET', user, 'role', role)
redis.call('ZADD', users, args.createdAt, args.userId)
if role == 'admin' then
  redis.call('SADD', admins, args.userId)
end
if args.teamId and redis.call('EXISTS', team) == 1 then
  redis.call('HSET', teamsOfUser, args.teamId, 'member')
  redis.call('HSET', membersOfTeam, args.userId, 'member')
end
return 'created'
