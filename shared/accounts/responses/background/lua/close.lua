-- Defines the function that ends an unfinished response, removes its request, and emits the event for its owner's webhooks. This file is
-- prepended to each script that calls the function, after background.lua and emit.lua of the webhooks.
--
--   state   the final state
--   final   the final response object, sealed; empty if it is among the stored responses
--   keepMs  milliseconds for which the response and its events are kept
local function close(state, final, keepMs)
  redis.call('HSET', record, 'state', state, 'endedAt', whole(now))
  redis.call('HDEL', texts, 'request', 'queued')
  if final ~= '' then
    redis.call('HSET', texts, 'final', final)
  end
  countBytes(owner, id, #final - number('requestBytes'))
  redis.call('HSET', record, 'requestBytes', 0)
  removeFromOpen(owner, id)
  redis.call('ZADD', names .. 'ended', whole(now), owner .. ' ' .. id)
  redis.call('ZADD', names .. 'ended-of:' .. owner, whole(now), id)
  expireAfter(keepMs)
  publishChange('over')
  webhooks.emit(prefix, {
    id = 'evt_' .. redis.sha1hex(id),
    type = 'response.' .. state,
    data = cjson.encode({ id = id }),
    owners = webhooks.ownersOf(prefix, owner),
  })
end
