-- Reads the part of an answer after an event. Registers the follower as waiting for more.
--
-- ARGV[1]  JSON, besides prefix, owner and id:
--   attempt     id of the execution
--   follower    id of the follower
--   followerMs  milliseconds for which the follower counts as waiting
--   after       number of the last event that the follower has; -1 if it has none
--   maxEntries  maximum of entries
--   maxBytes    bytes after which no more entries are read
--   wasAway     see answers.lua
-- Returns {} if the answer no longer exists, else {state, kind, number, next, 1 if its entries are not kept else 0, 1 if the lease has run
-- out else 0, facts, head, and for each entry the number of its last event and the sealed events}. `facts` and `head` are empty in a read
-- after an event. The first entry may also contain events that the follower has.
if readField('attempt') ~= args.attempt then
  return {}
end
local state = readField('state')
if state == 'running' then
  redis.call('ZADD', followers, whole(now + args.followerMs), args.follower)
  redis.call('PEXPIRE', followers, whole(redis.call('PTTL', record)))
end
local isGone = state == 'running' and not isLeased(readNumber('leaseUntil'))
local reply = {
  state,
  readField('kind') or '',
  readNumber('number'),
  readNumber('next'),
  readField('isLost') and 1 or 0,
  isGone and 1 or 0,
  args.after < 0 and readField('facts') or '',
  args.after < 0 and readField('head') or '',
}
eachAfter(events, args.after, args.maxEntries, args.maxBytes, function(last, sealed)
  table.insert(reply, last)
  table.insert(reply, sealed)
end)
return reply
