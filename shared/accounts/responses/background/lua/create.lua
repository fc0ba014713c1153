-- Stores a new response, unless its owner has too many unfinished responses, or there is no room for the request.
--
-- ARGV[1]  JSON, besides prefix, kind, owner and id:
--   fields      of the record
--   createdAt   the same as in `fields`
--   last        number of the last event in ARGV[4]
--   maxOpen     maximum number of unfinished responses of an owner
--   ownerBytes, totalBytes  see `makeRoomBy`
--   keepMs      milliseconds after which the response expires even if no run has ended it
-- ARGV[2]  the request, sealed
-- ARGV[3]  the response object before the first run, sealed
-- ARGV[4]  the first events, sealed
-- Returns how many unfinished responses the owner has, including this response; 0 if there are too many; -1 if there is no room.
sweep()
local openOf = names .. 'open-of:' .. owner
if redis.call('EXISTS', record) == 1 then
  return math.max(1, redis.call('ZCARD', openOf))
end
local requestBytes = #ARGV[2] + #ARGV[3]
if redis.call('ZCARD', openOf) >= args.maxOpen then
  return 0
end
if not makeRoom(requestBytes + #ARGV[4]) then
  return -1
end
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
redis.call('HSET', record, 'state', 'queued', 'requestBytes', requestBytes)
redis.call('HSET', texts, 'request', ARGV[2], 'queued', ARGV[3])
redis.call('ZADD', names .. 'open', whole(args.createdAt), id)
redis.call('ZADD', openOf, whole(args.createdAt), id)
countBytes(owner, id, requestBytes)
expireAfter(args.keepMs)
addEvents(ARGV[4], args.last)
return redis.call('ZCARD', openOf)
