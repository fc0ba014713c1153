-- Returns the state of a device's sign-in. An approved sign-in becomes a program of the person who approved it, once. The device may repeat
-- its claim for a while, because the reply may have been lost. It then gets the same program, unless the program was refreshed. If the
-- person has more programs than the maximum, the oldest programs are signed out. A repeated claim returns the same ids of signed-out
-- programs.
--
-- KEYS[1]  the sign-in (hash)
-- KEYS[2]  programs that were signed out (sorted set: id by the time until which an access token may last)
-- ARGV[1]  JSON:
--   clientHash        hash of the program's `client_id`; absent if it has sent none
--   now               ms since 1970
--   slackMs           milliseconds by which a poll may come early
--   claimedMs         milliseconds for which the device may repeat its claim
--   programId         id for the program, if this call creates it
--   idleMs            milliseconds for which the program stays signed in without a refresh
--   revokedUntil      the time, in ms since 1970, until which existing access tokens may last
--   maxPerUser        maximum of programs of one person
--   userPrefix, membersOfPrefix, programPrefix, programsOfPrefix  starts of names
-- Returns {'expired'}, {'pending'}, {'slow down'}, {'denied'}, or {'approved', id of the program, id of the person, id of the team or '',
-- ids of the programs that were signed out, ...}.
local device, revoked = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local state, interval, polledAt, userId, epoch, teamId, client, address =
  unpack(redis.call('HMGET', device, 'state', 'intervalMs', 'polledAt', 'userId', 'epoch', 'teamId', 'client', 'address'))
if not state then
  return { 'expired' }
end
local clientHash, claimedAs = unpack(redis.call('HMGET', device, 'clientHash', 'programId'))
if args.clientHash and clientHash and args.clientHash ~= clientHash then
  return { 'expired' }
end
if state == 'pending' then
  local early = polledAt and args.now - tonumber(polledAt) + args.slackMs < tonumber(interval)
  redis.call('HSET', device, 'polledAt', args.now)
  if early then
    redis.call('HINCRBY', device, 'intervalMs', 5000)
    return { 'slow down' }
  end
  return { 'pending' }
end
if state ~= 'approved' and state ~= 'claimed' then
  return { 'denied' }
end
local blockedAt, currentEpoch = unpack(redis.call('HMGET', args.userPrefix .. userId, 'blockedAt', 'epoch'))
local isMember = not teamId or redis.call('HEXISTS', args.membersOfPrefix .. teamId, userId) == 1
if blockedAt or currentEpoch ~= epoch or not isMember then
  redis.call('HSET', device, 'state', 'denied')
  return { 'denied' }
end
if state == 'claimed' then
  if redis.call('HGET', args.programPrefix .. claimedAs, 'generation') ~= '0' then
    return { 'expired' }
  end
  return { 'approved', claimedAs, userId, teamId or '', unpack(cjson.decode(redis.call('HGET', device, 'signedOut') or '[]')) }
end
redis.call('HSET', device, 'state', 'claimed', 'programId', args.programId)
redis.call('PEXPIRE', device, args.claimedMs)
local program = args.programPrefix .. args.programId
redis.call('HSET', program, 'id', args.programId, 'userId', userId, 'epoch', epoch, 'client', client, 'address', address)
redis.call('HSET', program, 'createdAt', args.now, 'usedAt', args.now, 'generation', 0)
if teamId then
  redis.call('HSET', program, 'teamId', teamId)
end
redis.call('PEXPIRE', program, args.idleMs)
local programs = args.programsOfPrefix .. userId
redis.call('ZADD', programs, args.now, args.programId)
local signedOut = {}
for _, old in ipairs(redis.call('ZRANGE', programs, 0, -(args.maxPerUser + 1))) do
  if redis.call('DEL', args.programPrefix .. old) == 1 then
    redis.call('ZADD', revoked, args.revokedUntil, old)
    table.insert(signedOut, old)
  end
  redis.call('ZREM', programs, old)
end
if #signedOut > 0 then
  redis.call('HSET', device, 'signedOut', cjson.encode(signedOut))
end
redis.call('PEXPIRE', programs, args.idleMs)
return { 'approved', args.programId, userId, teamId or '', unpack(signedOut) }
