-- Deletes a team without members whose keys are revoked. `forget-keys.lua` is prepended to this script.
--
-- KEYS[1]  record of the team (hash)
-- KEYS[2]  its members (hash: user to role)
-- KEYS[3]  index of all teams (sorted set)
-- KEYS[4]  index of all keys (sorted set)
-- KEYS[5]  index of the team's keys (sorted set)
-- KEYS[6]  last uses of keys (hash)
-- ARGV[1]  JSON:
--   id
--   keyPrefix, keysKeptMs  see `forgetKeys`
-- Returns 1, or 0 when the team has members or keys that are not revoked.
local team, members, teams, keys, keysOfTeam, uses = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', members) == 1 or not forgetKeys(keys, keysOfTeam, uses, args) then
  return 0
end
redis.call('DEL', team)
redis.call('ZREM', teams, args.id)
return 1
