-- Deletes a team: its members leave it, and its keys are revoked.
--
-- KEYS[1]  record of the team (hash)
-- KEYS[2]  its members (hash: user to role)
-- KEYS[3]  index of all teams (sorted set)
-- KEYS[4]  index of its keys (sorted set)
-- ARGV[1]  id of the team
-- ARGV[2]  now, ms since 1970
-- ARGV[3]  what the names of keys' records begin with
-- ARGV[4]  what the names of people's teams begin with
-- Returns how many keys were revoked, or -1 when there is no such team.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return -1
end
for _, user in ipairs(redis.call('HKEYS', KEYS[2])) do
  redis.call('HDEL', ARGV[4] .. user, ARGV[1])
end
local revoked = 0
for _, id in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
  if redis.call('EXISTS', ARGV[3] .. id) == 1 then
    revoked = revoked + redis.call('HSETNX', ARGV[3] .. id, 'revokedAt', ARGV[2])
  end
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[3], ARGV[1])
return revoked
