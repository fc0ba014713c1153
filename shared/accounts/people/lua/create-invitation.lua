-- Stores an invitation and its link. The number of open invitations is bounded.
--
-- KEYS[1]  record of the invitation (hash)
-- KEYS[2]  its link (string: id of the invitation)
-- KEYS[3]  index of the invitations (sorted set: id by expiry)
-- KEYS[4]  addresses (hash: address to id of a user)
-- KEYS[5]  record of the team to join (hash)
-- ARGV[1]  JSON:
--   id
--   email
--   now        ms since 1970
--   expiresAt  ms since 1970
--   maxOpen    maximum number of open invitations
--   isToTeam   whether the person is to join a team
--   fields     fields of the invitation's record
-- Returns 'created', 'email taken', 'no team' or 'too many'.
local invitation, link, invitations, emails, team = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('HEXISTS', emails, args.email) == 1 then
  return 'email taken'
end
if args.isToTeam and redis.call('EXISTS', team) == 0 then
  return 'no team'
end
redis.call('ZREMRANGEBYSCORE', invitations, '-inf', args.now)
if redis.call('ZCARD', invitations) >= args.maxOpen then
  return 'too many'
end
for name, value in pairs(args.fields) do
  redis.call('HSET', invitation, name, value)
end
redis.call('PEXPIREAT', invitation, args.expiresAt)
redis.call('SET', link, args.id, 'PXAT', args.expiresAt)
redis.call('ZADD', invitations, args.expiresAt, args.id)
return 'created'
