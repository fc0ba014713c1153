-- Defines the function that adds an entry to an answer. This file is prepended to each script that calls the function, after the file that
-- defines `makeRoom(bytes)` for the kind of the answer.
--
-- Arguments of the script:
--   from         number of the first event, or of an earlier event that may be there already
--   last         number of the last event; unused if there are no events
--   answerBytes  maximum bytes of the events of one answer
--   fields       sealed fields of the record
-- ARGV[2]  the events, sealed; empty if there are none
-- `isLast` is set for the last events of a background response. Clients that stream it wait for these events, so they are added even if
-- there is no room. Returns whether the events of the answer are kept.
local function addEntry(isLast)
  for key, value in pairs(args.fields) do
    redis.call('HSET', record, key, value)
  end
  local bytes, expected = #ARGV[2], number('next')
  local follows = args.from <= expected
  -- This call repeats an earlier call whose reply was lost, or adds no events.
  if field(lossField) or (follows and (bytes == 0 or args.last < expected)) then
    return not field(lossField)
  end
  if not follows or not isLast and (number('eventBytes') + bytes > args.answerBytes or not makeRoom(bytes)) then
    stopKeepingEvents(owner, id)
    return false
  end
  addEvents(ARGV[2], args.last)
  return true
end
