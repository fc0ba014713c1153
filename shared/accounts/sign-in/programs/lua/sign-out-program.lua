-- Signs a program out, and returns its person.
--
-- KEYS[1]  the program (hash)
-- KEYS[2]  programs that were signed out (sorted set: id by the time until which an access token may last)
-- ARGV[1]  JSON:
--   id
--   userId            the person to whom the program must belong; absent if it may belong to anybody
--   generation        generation of the refresh token that signs the program out; absent for a sign-out without a refresh token
--   now               ms since 1970
--   repeatMs          milliseconds after the last refresh for which the previous token may be presented again
--   revokedUntil      the time, in ms since 1970, until which existing access tokens may last
--   programsOfPrefix  start of the names of people's programs
-- Returns {id of the person, 1 if the refresh token was replaced before, else 0}; {} if there is no such program.
local program, revoked = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local userId, generation, rotatedAt = unpack(redis.call('HMGET', program, 'userId', 'generation', 'rotatedAt'))
if not userId or (args.userId and args.userId ~= userId) then
  return {}
end
-- Below 0 for a token that was issued before the store lost its last writes. Such a token is the newest one.
local behind = args.generation and tonumber(generation) - args.generation or 0
local isReplayed = behind > 1 or (behind == 1 and args.now - tonumber(rotatedAt) > args.repeatMs)
redis.call('DEL', program)
redis.call('ZREM', args.programsOfPrefix .. userId, args.id)
redis.call('ZREMRANGEBYSCORE', revoked, '-inf', args.now)
redis.call('ZADD', revoked, args.revokedUntil, args.id)
return { userId, isReplayed and 1 or 0 }
