-- Puts the next refresh token of a program into use. A token that was replaced before signs the program out, because two parties have the
-- token, and one of them has stolen it. Exception: the reply with the current token may have been lost. So the previous token may be
-- presented again for a while, until the current token is used.
--
-- KEYS[1]  the program (hash)
-- KEYS[2]  programs that were signed out (sorted set: id by the time until which an access token may last)
-- ARGV[1]  JSON:
--   id
--   generation        generation of the presented token
--   seen              generation of the program when the token was presented. The sender may have repeated the request since, and may
--                     have newer tokens.
--   now               ms since 1970
--   repeatMs          milliseconds after the last refresh for which the previous token may be presented again
--   idleMs            milliseconds for which the program stays signed in without a refresh
--   maxMs             maximum of milliseconds for which the program stays signed in
--   revokedUntil      the time, in ms since 1970, until which existing access tokens may last
--   userPrefix, membersOfPrefix, programsOfPrefix  starts of names
-- Returns {'refreshed', generation of the new token}; {'unknown'} for an unknown program; {'late'} for a token that was replaced after
-- it was presented; {'ended' or 'replayed', id of the person} if this call signed the program out.
local program, revoked = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local userId, teamId, epoch, createdAt, generation, rotatedAt =
  unpack(redis.call('HMGET', program, 'userId', 'teamId', 'epoch', 'createdAt', 'generation', 'rotatedAt'))
if not userId then
  return { 'unknown' }
end
local function signOut(outcome)
  redis.call('DEL', program)
  redis.call('ZREM', args.programsOfPrefix .. userId, args.id)
  redis.call('ZREMRANGEBYSCORE', revoked, '-inf', args.now)
  redis.call('ZADD', revoked, args.revokedUntil, args.id)
  return { outcome, userId }
end
local leftMs = tonumber(createdAt) + args.maxMs - args.now
local blockedAt, currentEpoch = unpack(redis.call('HMGET', args.userPrefix .. userId, 'blockedAt', 'epoch'))
local isMember = not teamId or redis.call('HEXISTS', args.membersOfPrefix .. teamId, userId) == 1
if blockedAt or currentEpoch ~= epoch or not isMember or leftMs <= 0 then
  return signOut('ended')
end
generation = tonumber(generation)
-- Above the stored generation for a token that was issued before the store lost its last writes. Such a token is the newest one.
if args.generation >= generation then
  generation = args.generation + 1
  redis.call('HSET', program, 'generation', generation, 'rotatedAt', args.now)
elseif args.generation ~= generation - 1 or args.now - tonumber(rotatedAt) > args.repeatMs then
  if args.seen < generation and args.seen - args.generation <= 1 then
    return { 'late' }
  end
  return signOut('replayed')
end
redis.call('HSET', program, 'usedAt', args.now)
redis.call('PEXPIRE', program, math.min(args.idleMs, leftMs))
redis.call('PEXPIRE', args.programsOfPrefix .. userId, args.idleMs)
return { 'refreshed', generation }
