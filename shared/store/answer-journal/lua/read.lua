-- Reads fields of an answer's record, and the events after an event.
--
-- ARGV[1]  JSON, besides prefix, kind, owner and id:
--   match       fields of the record with the values that they must have
--   fields      names of the fields to read
--   after       number of the last event that the reader has; -1 if it has none
--   maxEntries  maximum of entries
--   maxBytes    bytes after which no more entries are read
--   follower    id of a follower that waits for more; absent if nobody counts them
--   followerMs  milliseconds for which the follower counts as waiting
-- Returns {} if there is no such answer, else {now, next, 1 if its events are not kept else 0, the fields, and for each entry the number of
-- its last event and the sealed events}. The first entry may also contain events that the reader has.
for key, value in pairs(args.match) do
  if field(key) ~= value then
    return {}
  end
end
if args.follower and mayAdd() then
  redis.call('ZADD', names .. 'followers:' .. name, whole(now + args.followerMs), args.follower)
  redis.call('PEXPIRE', names .. 'followers:' .. name, whole(redis.call('PTTL', record)))
end
local reply = { whole(now), number('next'), field(lossField) and 1 or 0, redis.call('HMGET', record, unpack(args.fields)) }
eachAfter(events, args.after, args.maxEntries, args.maxBytes, function(last, sealed)
  table.insert(reply, last)
  table.insert(reply, sealed)
end)
return reply
