-- Changes the address of a person. Ends all their sign-in sessions and admin tokens, so that somebody who reads mails to the old address
-- loses access. Refuses the address of an open invitation, because that invitation could then no longer be accepted.
--
-- KEYS[1]  addresses (hash: address to id)
-- KEYS[2]  record of the user (hash)
-- KEYS[3]  index of the invitations (sorted set: id by expiry)
-- ARGV[1]  JSON:
--   userId
--   email
--   isConfirmed  whether somebody other than the person sets the address
--   invitationPrefix  start of the names of invitations' records
-- Returns 'changed', 'email taken', 'invited' or 'unknown'.
local emails, user, invitations = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local before = redis.call('HGET', user, 'email')
if not before then
  return 'unknown'
end
for _, id in ipairs(redis.call('ZRANGE', invitations, 0, -1)) do
  if redis.call('HGET', args.invitationPrefix .. id, 'email') == args.email then
    return 'invited'
  end
end
if redis.call('HSETNX', emails, args.email, args.userId) == 0 then
  return 'email taken'
end
if redis.call('HGET', emails, before) == args.userId then
  redis.call('HDEL', emails, before)
end
redis.call('HSET', user, 'email', args.email)
if args.isConfirmed then
  redis.call('HSET', user, 'confirmedEmail', args.email)
else
  redis.call('HSET', user, 'confirmedEmail', '', 'usedEmail', args.email)
end
redis.call('HINCRBY', user, 'epoch', 1)
redis.call('HINCRBY', user, 'tokenEpoch', 1)
return 'changed'
