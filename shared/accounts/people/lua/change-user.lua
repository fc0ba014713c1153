-- Changes a person's name or role, blocks or unblocks them, or sets their limits, weight or ceiling. Makes either all changes or none. The
-- last administrator can be neither blocked nor made a member. Blocking ends all sign-in sessions and admin tokens of the person, and
-- deletes their MCP account links. Withdraws the open invitations of an administrator who becomes a member or is blocked, because the links
-- could give that person another account.
--
-- KEYS[1]  record of the user (hash)
-- KEYS[2]  the administrators who are not blocked (set of ids)
-- KEYS[3]  index of the invitations (sorted set: id by expiry)
-- KEYS[4]  the user's MCP account links (hash)
-- ARGV[1]  JSON:
--   id
--   now               ms since 1970
--   ifRevision        the revision that the record must have; absent to change the record at any revision
--   name, role, blocked (true or false), limits (JSON), weight, ceiling (JSON)  new values; absent fields stay unchanged
--   invitationPrefix  start of the names of invitations' records
--   linkPrefix        start of the names of invitations' links
-- Returns the record before the change as a list of names and values, or 'stale' when the person is at another revision, 'last admin' or
-- 'unknown'.
local user, admins, invitations, connections = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local before = redis.call('HGETALL', user)
if #before == 0 then
  return 'unknown'
end
if args.ifRevision and tonumber(redis.call('HGET', user, 'revision') or '0') ~= args.ifRevision then
  return 'stale'
end
local role, blockedAt = unpack(redis.call('HMGET', user, 'role', 'blockedAt'))
local wasBlocked = blockedAt and true or false
local isBlocked = wasBlocked
if args.blocked ~= nil then
  isBlocked = args.blocked
end
role = args.role or role
local isActiveAdmin = role == 'admin' and not isBlocked
-- Another release may have given the person a role that counts as an administrator's, so only a change of these fields decides.
local decidesAdmin = args.role ~= nil or args.blocked ~= nil
if decidesAdmin and not isActiveAdmin and redis.call('SISMEMBER', admins, args.id) == 1 and redis.call('SCARD', admins) == 1 then
  return 'last admin'
end
redis.call('HINCRBY', user, 'revision', 1)
if args.name then
  redis.call('HSET', user, 'name', args.name)
end
if args.role then
  redis.call('HSET', user, 'role', role)
end
if isBlocked and not wasBlocked then
  redis.call('HSET', user, 'blockedAt', args.now)
  redis.call('HINCRBY', user, 'epoch', 1)
  redis.call('HINCRBY', user, 'tokenEpoch', 1)
  redis.call('DEL', connections)
elseif not isBlocked then
  redis.call('HDEL', user, 'blockedAt')
end
if args.limits then
  redis.call('HSET', user, 'limits', args.limits)
end
if args.weight then
  redis.call('HSET', user, 'weight', args.weight)
end
if args.ceiling then
  redis.call('HSET', user, 'ceiling', args.ceiling)
end
if isActiveAdmin and decidesAdmin then
  redis.call('SADD', admins, args.id)
elseif decidesAdmin and redis.call('SREM', admins, args.id) == 1 then
  for _, id in ipairs(redis.call('ZRANGE', invitations, 0, -1)) do
    local invitedBy, linkHash = unpack(redis.call('HMGET', args.invitationPrefix .. id, 'invitedBy', 'linkHash'))
    if invitedBy == args.id then
      redis.call('DEL', args.invitationPrefix .. id)
      redis.call('ZREM', invitations, id)
      if linkHash then
        redis.call('DEL', args.linkPrefix .. linkHash)
      end
    end
  end
end
return before
