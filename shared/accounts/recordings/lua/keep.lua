-- Stores a recording. Removes an earlier recording of the same owner with the same id.
--
-- ARGV[1]  JSON, besides prefix: the options of `owned.makeRoom` and:
--   keepMs  milliseconds for which the recording is kept
-- ARGV[2]  its entry, as JSON
-- ARGV[3]  the description of the request, sealed
-- ARGV[4]  its body, sealed
-- ARGV[5]  its answer, sealed
-- Returns 1, 0 if the recording has more bytes than may be stored, or -1 if its owner no longer exists.
local owner, id, entry = args.owner, args.id, cjson.decode(ARGV[2])
local outcome = owned.admit(args, entry.bytes)
if outcome ~= 1 then
  return outcome
end
owned.makeRoom(args, entry.bytes)
redis.call('HSET', owned.contentOf(owner, id), 'at', whole(now), 'facts', ARGV[3], 'request', ARGV[4], 'answer', ARGV[5])
redis.call('ZADD', owned.nameOf('seen-by', entry.party), whole(now), owner .. '/' .. id)
redis.call('ZADD', owned.nameOf('all'), whole(now), owner .. '/' .. id)
redis.call('SADD', owned.nameOf('request', id), owner)
owned.add(owner, id, ARGV[2], entry.bytes, now, now + args.keepMs)
return 1
