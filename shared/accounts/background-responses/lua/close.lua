-- The function that ends a response which is not over, and has that sent to the webhooks of its owner. It stands before each script that
-- does, behind background.lua and emit.lua of the webhooks. The request of the response is needed no more.
--
--   state   in which it is over
--   final   its answer, sealed; empty for one that is among the stored responses
--   keepMs  milliseconds for which it and its events are kept
local function close(state, final, keepMs)
  local owner = field('owner')
  redis.call('HSET', record, 'state', state, 'endedAt', whole(now))
  redis.call('HDEL', texts, 'request', 'queued')
  if final ~= '' then
    redis.call('HSET', texts, 'final', final)
  end
  count(owner, args.id, #final - number('requestBytes'))
  redis.call('HSET', record, 'requestBytes', 0)
  redis.call('ZREM', prefix .. 'background-open', args.id)
  redis.call('ZREM', prefix .. 'background-open-of:' .. owner, args.id)
  redis.call('ZADD', prefix .. 'background-ended', whole(now), owner .. ' ' .. args.id)
  redis.call('ZADD', prefix .. 'background-ended-of:' .. owner, whole(now), args.id)
  expireAfter(owner, keepMs)
  changed('over')
  webhooks.emit(prefix, {
    id = 'evt_' .. redis.sha1hex(args.id),
    type = 'response.' .. state,
    data = cjson.encode({ id = args.id }),
    owners = webhooks.ownersOf(prefix, owner),
  })
end
