-- Defines the function that ends an unfinished response, removes its request, and emits the event for its owner's webhooks. This file is
-- prepended to each script that calls the function, after background.lua and emit.lua of the webhooks.
--
--   state   the final state
--   final   the final response object, sealed; empty if it is among the stored responses
--   keepMs  milliseconds for which the response and its events are kept
local function close(state, final, keepMs)
  local owner = field('owner')
  redis.call('HSET', record, 'state', state, 'endedAt', whole(now))
  redis.call('HDEL', texts, 'request', 'queued')
  if final ~= '' then
    redis.call('HSET', texts, 'final', final)
  end
  countBytes(owner, args.id, #final - number('requestBytes'))
  redis.call('HSET', record, 'requestBytes', 0)
  removeFromOpen(owner, args.id)
  redis.call('ZADD', prefix .. 'background-ended', whole(now), owner .. ' ' .. args.id)
  redis.call('ZADD', prefix .. 'background-ended-of:' .. owner, whole(now), args.id)
  expireAfter(owner, keepMs)
  publishChange('over')
  webhooks.emit(prefix, {
    id = 'evt_' .. redis.sha1hex(args.id),
    type = 'response.' .. state,
    data = cjson.encode({ id = args.id }),
    owners = webhooks.ownersOf(prefix, owner),
  })
end
