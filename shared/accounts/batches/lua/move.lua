-- Moves a batch to another state, makes its files, and emits an event if the batch is over in the new state. `emit.lua` of the webhooks and
-- `files.lua` are also prepended to this script.
--
-- ARGV[1]  JSON, besides prefix and id:
--   from    the state that the batch must be in
--   to      the state that the batch gets
--   fields  other fields of the record that change with the state
--   timed   name of the field that gets the current time; may be absent
--   isOver  whether the batch is over in the new state
--   files   { object, id, purpose, bytes, expiresAt } of each upload that becomes a file
-- ARGV[2…]  the records of these files, as JSON
-- Returns 1; 0 if the batch is in another state, or unknown; -1 if an upload counts as dead, or the owner no longer exists.
if field('state') ~= args.from then
  return 0
end
for _, file in ipairs(args.files) do
  if not canBecomeFile(field('owner'), file.object) then
    return -1
  end
end
for at, file in ipairs(args.files) do
  keep(field('owner'), file, ARGV[at + 1])
end
redis.call('HSET', record, 'state', args.to)
if args.timed then
  redis.call('HSET', record, args.timed, whole(now))
end
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
if args.isOver then
  redis.call('HDEL', record, 'pausedUntil', 'pausedFor', 'blockedUntil', 'lacksWorker')
  -- The last part of the event's type is the outcome, in the words of the formats.
  local outcome = 'completed'
  if args.to == 'failed' then
    outcome = 'failed'
  elseif field('cancelledAt') then
    outcome = 'cancelled'
  elseif tonumber(field('expired') or 0) > 0 then
    outcome = 'expired'
  end
  webhooks.emit(prefix, {
    id = 'evt_' .. redis.sha1hex(args.id),
    type = 'batch.' .. outcome,
    data = cjson.encode({ id = args.id }),
    owners = webhooks.ownersOf(prefix, field('owner')),
  })
end
return 1
