-- Common functions of the scripts of webhooks. This file is prepended to each of them, and reads no arguments. It is also prepended to
-- scripts that change a state which webhooks report. Such a script calls `webhooks.emit`, so that the change and the event are stored
-- together.
--
--   <prefix>webhook:<id>                   hash: an endpoint
--   <prefix>webhooks                       sorted set: ids of all endpoints by creation time
--   <prefix>webhooks-of:<owner>            sorted set: ids of the endpoints of a person (`user:<id>`), a team (`team:<id>`) or the
--                                          `router`, by creation time
--   <prefix>webhook-delivery:<id>          hash: one event on its way to one endpoint; expires when it has ended
--   <prefix>webhook-pending:<endpoint>     sorted set: ids of unfinished deliveries, by the time at which each is due
--   <prefix>webhook-running:<endpoint>     sorted set: ids of deliveries that a runner has, by the time until which it has them
--   <prefix>webhook-delivered:<endpoint>   sorted set: ids of deliveries by the time at which they ended
--   <prefix>webhook-dead:<endpoint>        sorted set: ids of deliveries that were given up, by the time at which they ended
--   <prefix>webhook-due                    sorted set: ids of endpoints, by the time at which a delivery of each can be taken
--
-- The scripts compute names themselves, so they do not run on a Redis cluster. Times are in ms since 1970, by the clock of Redis.
local webhooks = {}

-- Maximum number of unfinished deliveries of one endpoint.
local maxPending = 1000

-- Maximum number of deliveries of one endpoint that runners have at once, so that a slow receiver delays only its own deliveries.
local maxRunning = 4
-- Maximum number of deliveries of one owner that runners have at once. It is divided equally among the owner's endpoints. So an owner with
-- 20 slow receivers delays nobody else, and none of these receivers delays another.
local maxRunningOfOwner = 20

-- Maximum number of ended deliveries of one endpoint that are kept.
local maxKept = { delivered = 100, dead = 500 }
-- Milliseconds after the end of a delivery for which it is kept: 30 days.
local keptMs = 30 * 86400000

function webhooks.now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Lua's own conversion writes large numbers with an exponent.
function webhooks.whole(number)
  return string.format('%.0f', number)
end

-- Returns the maximum number of deliveries of an endpoint that runners may have at once.
local function computeMaxRunning(prefix, endpoint)
  local owner = redis.call('HGET', prefix .. 'webhook:' .. endpoint, 'owner')
  local count = owner and redis.call('ZCARD', prefix .. 'webhooks-of:' .. owner) or 1
  return math.max(1, math.min(maxRunning, math.floor(maxRunningOfOwner / math.max(1, count))))
end

-- Stores when a delivery of an endpoint can be taken next.
function webhooks.schedule(prefix, endpoint, now)
  local running = prefix .. 'webhook-running:' .. endpoint
  redis.call('ZREMRANGEBYSCORE', running, '-inf', webhooks.whole(now))
  local first = redis.call('ZRANGE', prefix .. 'webhook-pending:' .. endpoint, 0, 0, 'WITHSCORES')[2]
  if not first then
    redis.call('ZREM', prefix .. 'webhook-due', endpoint)
    return
  end
  local at = tonumber(first)
  if redis.call('ZCARD', running) >= computeMaxRunning(prefix, endpoint) then
    at = math.max(at, tonumber(redis.call('ZRANGE', running, 0, 0, 'WITHSCORES')[2]))
  end
  redis.call('ZADD', prefix .. 'webhook-due', webhooks.whole(at), endpoint)
end

-- Gives a delivery to a runner until `untilMs`. Then the delivery is due again.
function webhooks.lease(prefix, endpoint, id, untilMs)
  redis.call('ZADD', prefix .. 'webhook-pending:' .. endpoint, webhooks.whole(untilMs), id)
  redis.call('ZADD', prefix .. 'webhook-running:' .. endpoint, webhooks.whole(untilMs), id)
end

-- Ends a delivery as 'delivered' or 'dead'.
function webhooks.finish(prefix, endpoint, id, state, now)
  local delivery, list = prefix .. 'webhook-delivery:' .. id, prefix .. 'webhook-' .. state .. ':' .. endpoint
  redis.call('ZREM', prefix .. 'webhook-pending:' .. endpoint, id)
  redis.call('HDEL', delivery, 'nextAt')
  redis.call('HSET', delivery, 'state', state, 'endedAt', webhooks.whole(now))
  redis.call('PEXPIRE', delivery, keptMs)
  redis.call('ZADD', list, webhooks.whole(now), id)
  redis.call('PEXPIRE', list, keptMs)
  redis.call('ZREMRANGEBYSCORE', list, '-inf', webhooks.whole(now - keptMs))
  while redis.call('ZCARD', list) > maxKept[state] do
    redis.call('DEL', prefix .. 'webhook-delivery:' .. redis.call('ZPOPMIN', list)[1])
  end
end

-- Queues a delivery that is due now. Returns false if the endpoint has too many unfinished deliveries.
function webhooks.queue(prefix, endpoint, id, now)
  local pending = prefix .. 'webhook-pending:' .. endpoint
  if redis.call('ZCARD', pending) >= maxPending then
    return false
  end
  redis.call('ZADD', pending, webhooks.whole(now), id)
  webhooks.schedule(prefix, endpoint, now)
  return true
end

-- Sends an event to one endpoint, unless it was sent to this endpoint before. `event` is as for `webhooks.emit`. If `event.once` is set,
-- there is only one try.
-- Returns the id of the delivery.
function webhooks.send(prefix, endpoint, event, now)
  local id = 'wh_' .. redis.sha1hex(event.id .. ' ' .. endpoint)
  local delivery = prefix .. 'webhook-delivery:' .. id
  if redis.call('EXISTS', delivery) == 1 then
    return id
  end
  local head = cjson.encode({ id = event.id, object = 'event', created_at = math.floor(now / 1000), type = event.type })
  local body = string.sub(head, 1, -2) .. ',"data":' .. event.data .. '}'
  local at = webhooks.whole(now)
  redis.call('HSET', delivery, 'id', id, 'endpoint', endpoint, 'event', event.id, 'type', event.type, 'body', body)
  redis.call('HSET', delivery, 'state', 'pending', 'attempts', 0, 'createdAt', at, 'since', at, 'nextAt', at)
  if event.once then
    redis.call('HSET', delivery, 'once', 1)
  end
  if not webhooks.queue(prefix, endpoint, id, now) then
    redis.call('HSET', delivery, 'lastError', 'too many deliveries of this endpoint are waiting')
    webhooks.finish(prefix, endpoint, id, 'dead', now)
  end
  return id
end

-- Returns whether an endpoint has selected a type of events, and is enabled. Returns false for a record that this release cannot read.
local function hasSelected(prefix, endpoint, eventType)
  local reply = redis.pcall('HMGET', prefix .. 'webhook:' .. endpoint, 'events', 'disabledAt')
  local isRead, selections = pcall(cjson.decode, reply[1] or '')
  if reply[2] or not isRead or type(selections) ~= 'table' then
    return false
  end
  local group = string.gsub(eventType, '%.[^.]+$', '.*')
  for _, selection in ipairs(selections) do
    if selection == eventType or selection == group then
      return true
    end
  end
  return false
end

-- Returns whether an owner exists, and is neither blocked nor refused by a provider. The rule is that of `isShutOut` in people/user.ts.
function webhooks.hasAccess(prefix, owner)
  if owner == 'router' then
    return true
  end
  local fields = redis.call('HMGET', prefix .. owner, 'blockedAt', 'refusedAt', 'passwordHash')
  local blockedAt, refusedAt, passwordHash = unpack(fields)
  local isRefused = refusedAt and (passwordHash or '') == ''
  return redis.call('EXISTS', prefix .. owner) == 1 and not blockedAt and not isRefused
end

-- Returns the owners of events about something that belongs to `id`: the id of a person, of a team, of a key without owner, or of an issued
-- key. Returns an empty list if the id is unknown or its owner no longer exists.
function webhooks.ownersOf(prefix, id)
  for _, kind in ipairs({ 'user:', 'team:' }) do
    if redis.call('EXISTS', prefix .. kind .. id) == 1 then
      return { kind .. id }
    end
  end
  local kind, ownerId = unpack(redis.call('HMGET', prefix .. 'key:' .. id, 'kind', 'ownerId'))
  if kind == 'router' then
    return { 'router' }
  end
  if kind and ownerId and redis.call('EXISTS', prefix .. kind .. ':' .. ownerId) == 1 then
    return { kind .. ':' .. ownerId }
  end
  return {}
end

-- Returns why an endpoint must not get deliveries; nil if it may.
function webhooks.refusal(prefix, endpoint)
  local owner, disabledAt = unpack(redis.call('HMGET', prefix .. 'webhook:' .. endpoint, 'owner', 'disabledAt'))
  if disabledAt then
    return 'its endpoint is disabled'
  end
  if not owner or not webhooks.hasAccess(prefix, owner) then
    return 'the owner of its endpoint is shut out or gone'
  end
  return nil
end

-- Sends an event to every endpoint of its owners that has selected it. Returns the number of these endpoints.
--   id      unique id; an event that is emitted again with the same id is not sent again
--   type
--   data    as JSON
--   owners  `user:<id>`, `team:<id>`, `router`
function webhooks.emit(prefix, event)
  local now, count = webhooks.now(), 0
  for _, owner in ipairs(event.owners) do
    local endpoints = redis.call('ZRANGE', prefix .. 'webhooks-of:' .. owner, 0, -1)
    if #endpoints > 0 and webhooks.hasAccess(prefix, owner) then
      for _, endpoint in ipairs(endpoints) do
        if hasSelected(prefix, endpoint, event.type) then
          webhooks.send(prefix, endpoint, event, now)
          count = count + 1
        end
      end
    end
  end
  return count
end
