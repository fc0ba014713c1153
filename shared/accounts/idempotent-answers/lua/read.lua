-- Reads the part of an answer after an event, and registers a follower as waiting for more.
--
-- ARGV[1]  JSON, besides prefix, owner and id:
--   attempt     id of the execution
--   follower    id of the follower
--   followerMs  milliseconds for which the follower counts as waiting
--   after       number of the last event that the follower has; -1 if it has none
--   most        maximum of entries
--   maxBytes    bytes after which no more entries are read
--   wasAway     see answers.lua
-- Returns {} if the answer no longer exists, else {state, kind, number, next, 1 if its entries are not kept else 0, 1 if the lease has run
-- out else 0, facts, head, and for each entry the number of its last event and the sealed events}. `facts` and `head` are empty in a read
-- after an event. The first entry may have older events, too.
if field('attempt') ~= args.attempt then
  return {}
end
local state = field('state')
if state == 'running' then
  redis.call('ZADD', followers, whole(now + args.followerMs), args.follower)
  redis.call('PEXPIRE', followers, whole(redis.call('PTTL', record)))
end
local isGone = state == 'running' and not isLeased(number('leaseUntil'))
local reply = {
  state,
  field('kind') or '',
  number('number'),
  number('next'),
  field('isLost') and 1 or 0,
  isGone and 1 or 0,
  args.after < 0 and field('facts') or '',
  args.after < 0 and field('head') or '',
}
eachAfter(events, args.after, args.most, args.maxBytes, function(last, sealed)
  table.insert(reply, last)
  table.insert(reply, sealed)
end)
return reply
