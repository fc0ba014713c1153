-- Defines the function that adds an entry to an answer. This file is prepended to each script that calls the function, after answers.lua.
--
-- Arguments of the script:
--   from         number of the first event
--   last         number of the last event; unused if there are no events
--   answerBytes  maximum bytes of one answer
-- ARGV[2]  the events, sealed; empty if there are none
-- ARGV[3]  status and headers, sealed; empty if they were added before
-- ARGV[4]  endpoint and digest of the request, sealed; empty if they have not changed
-- Returns whether the answer is kept.
local function addEntry()
  if ARGV[3] ~= '' then
    redis.call('HSET', record, 'head', ARGV[3])
  end
  if ARGV[4] ~= '' then
    redis.call('HSET', record, 'facts', ARGV[4])
  end
  if readField('isLost') then
    return false
  end
  local bytes = #ARGV[2]
  -- This call repeats an earlier call whose reply was lost, or adds no events.
  if args.from <= readNumber('next') and (bytes == 0 or args.last < readNumber('next')) then
    return true
  end
  if args.from ~= readNumber('next') or readBytes(owner, id) + bytes > args.answerBytes or not makeRoom(bytes) then
    dropEntries(owner, id)
    return false
  end
  redis.call('XADD', events, whole(args.last + 1) .. '-0', 'e', ARGV[2])
  redis.call('PEXPIRE', events, whole(redis.call('PTTL', record)))
  redis.call('HSET', record, 'next', whole(args.last + 1))
  countBytes(owner, id, bytes)
  return true
end
