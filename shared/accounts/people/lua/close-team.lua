-- Ends the memberships of a team, and revokes its keys.
--
-- KEYS[1]  record of the team (hash)
-- KEYS[2]  its members (hash: user to role)
-- KEYS[3]  index of its keys (sorted set)
-- ARGV[1]  JSON:
--   id
--   now            ms since 1970
--   keyPrefix      start of the names of keys' records
--   teamsOfPrefix  start of the names of people's teams
-- Returns how many keys were revoked, or -1 when there is no such team.
local team, members, keysOfTeam = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', team) == 0 then
  return -1
end
for _, user in ipairs(redis.call('HKEYS', members)) do
  redis.call('HDEL', args.teamsOfPrefix .. user, args.id)
end
redis.call('DEL', members)
local revoked = 0
for _, id in ipairs(redis.call('ZRANGE', keysOfTeam, 0, -1)) do
  if redis.call('EXISTS', args.keyPrefix .. id) == 1 then
    revoked = revoked + redis.call('HSETNX', args.keyPrefix .. id, 'revokedAt', args.now)
  end
end
return revoked
