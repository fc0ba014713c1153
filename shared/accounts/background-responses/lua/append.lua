-- Adds events of a run to the stream of its response. If there is no room, or earlier events are missing, removes all events of this
-- response. No further events are then kept.
--
-- ARGV[1]  JSON, besides prefix and id:
--   attempt     id of the run
--   from        number of the first event, or of an earlier event that may be there already
--   last        number of the last event in ARGV[2]
--   maxBytes    maximum bytes of the events of one response
--   ownerBytes  maximum bytes of an owner's background responses
--   totalBytes  maximum bytes of all background responses
-- ARGV[2]  the events, sealed
-- Returns 1, or 0 if the response is over, or another run has begun.
if field('state') ~= 'in_progress' or field('attempt') ~= args.attempt then
  return 0
end
-- The events are already stored if the reply to an earlier call was lost.
if args.last < number('next') then
  return 1
end
local owner, bytes = field('owner'), #ARGV[2]
if not field('eventsGone') then
  local follows = args.from <= number('next')
  local fits = number('eventBytes') + bytes <= args.maxBytes
  if not (follows and fits and makeRoom(owner, bytes, args.ownerBytes, args.totalBytes)) then
    stopKeepingEvents(owner)
  end
end
addEvents(owner, ARGV[2], args.last)
publishChange('events')
return 1
