-- Moves a batch to another state, and emits that it is over. `emit.lua` of the webhooks stands before it, too.
--
-- ARGV[1]  JSON, besides prefix and id:
--   from    the state that it must be in
--   to
--   fields  of the record that change with it
--   timed   name of the field that gets the time of Redis; absent for none
--   isOver  whether the batch is over then
-- Returns 1, or 0 if it is in another state, or unknown.
if field('state') ~= args.from then
  return 0
end
redis.call('HSET', record, 'state', args.to)
if args.timed then
  redis.call('HSET', record, args.timed, whole(now))
end
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
if args.isOver then
  redis.call('HDEL', record, 'pausedUntil', 'pausedFor', 'blockedUntil')
  -- As formats show what became of it.
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
