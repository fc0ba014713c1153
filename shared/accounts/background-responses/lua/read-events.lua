-- Reads events of a response's stream.
--
-- ARGV[1]  JSON, besides prefix and id:
--   owner
--   after       number of the last event that the reader has; -1 if it has none
--   maxEntries  maximum number of stream entries
--   maxBytes    bytes of events after which no more entries are read
-- Returns {state, opening, begun, next, 1 if the events were removed else 0, and the sealed events}; {} if the owner has no such response.
local owner, isDeleted = unpack(redis.call('HMGET', record, 'owner', 'deletedAt'))
if owner ~= args.owner or isDeleted then
  return {}
end
local reply = { field('state'), number('opening'), number('begun'), number('next'), field('eventsGone') and 1 or 0 }
eachAfter(events, args.after, args.maxEntries, args.maxBytes, function(_, sealed)
  table.insert(reply, sealed)
end)
return reply
