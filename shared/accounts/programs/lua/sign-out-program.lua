-- Signs a program out.
--
-- KEYS[1]  the program (hash)
-- KEYS[2]  programs that were signed out (sorted set: id by the time until which an access token may last)
-- ARGV[1]  JSON:
--   id
--   userId            whose it must be; absent: anybody's
--   now               ms since 1970
--   revokedUntil      ms since 1970, until which access tokens that exist may last
--   programsOfPrefix  of names
-- Returns 1, or 0 when there is no such program.
local program, revoked = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local userId = redis.call('HGET', program, 'userId')
if not userId or (args.userId and args.userId ~= userId) then
  return 0
end
redis.call('DEL', program)
redis.call('ZREM', args.programsOfPrefix .. userId, args.id)
redis.call('ZREMRANGEBYSCORE', revoked, '-inf', args.now)
redis.call('ZADD', revoked, args.revokedUntil, args.id)
return 1
