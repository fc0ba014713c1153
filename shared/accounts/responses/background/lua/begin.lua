-- Begins a run of a response, unless the response is over. From now on, earlier runs can write nothing. Removes the events that earlier
-- runs wrote after the opening of the stream. The numbers of these events are not used again.
--
-- ARGV[1]  JSON, besides prefix, kind, owner and id:
--   attempt  id of the run
--   last     number of the last event in ARGV[2]
-- ARGV[2]  the events that say that the response has begun, sealed; only the first run writes them
-- Returns the number of the next event, or -1 if the response is over or unknown.
if not isOpen() then
  return -1
end
redis.call('HSET', record, 'attempt', args.attempt)
if field('state') == 'queued' then
  redis.call('HSET', record, 'state', 'in_progress', 'startedAt', whole(now))
  addEvents(ARGV[2], args.last)
  redis.call('HSET', record, 'opening', field('next'))
elseif number('next') > number('opening') then
  local opening = redis.call('XRANGE', events, '-', field('opening') .. '-0')
  local following = field('next')
  dropEvents(owner, id)
  for _, entry in ipairs(opening) do
    addEvents(entry[2][2], tonumber(string.match(entry[1], '^%d+')) - 1)
  end
  redis.call('HSET', record, 'next', following)
end
redis.call('HSET', record, 'begun', field('next'))
publishChange('events')
return number('next')
