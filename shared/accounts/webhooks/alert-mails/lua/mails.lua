-- Common functions of the scripts of alert mails. This file is prepended to each of them, after `emit.lua` of the webhooks, and reads no
-- arguments. Both files are also prepended to a script that changes a state whose changes are mailed. That script calls `mails.send`, so
-- that the change and the mails are stored together.
--
--   <prefix>alert-mail:<id>         hash that expires: one event on its way to one recipient; removed once it is sent or given up
--   <prefix>alert-mails-due         sorted set: ids of all mails, by the time at which each is due
--   <prefix>alert-mails-of:<whom>   sorted set that expires: ids of the mails to a recipient, by the time at which they were made
--   <prefix>alert-mails-to:<whom>   string that expires: how many mails a recipient was sent in the current hour
--   <prefix>alert-mails-by:<whom>   hash that expires: how many of these mails each source caused; `maxPerHour` after its last one
--
-- A recipient is `user:<id>` or `address:<e-mail address>`. Times are in ms since 1970, by the clock of Redis.
local mails = {}

-- Maximum number of mails that wait. Further events are not mailed.
local maxWaiting = 5000

-- Maximum number of mails that wait for one recipient. Without it, mails to a few recipients whose servers refuse mails for a while could
-- reach the maximum number of all waiting mails.
local maxWaitingOf = 50

-- Maximum number of mails to one recipient that runners try at once, so that a recipient with a slow server delays nobody else.
local maxTriesOf = 2

-- Maximum number of mails to one recipient in an hour. The hour begins with its first mail. Without this maximum, workers that keep coming
-- and going would cause any number of mails. Each source may cause half of the mails that the others leave, so that other alerts are mailed.
-- A source that is above this share, because others have grown, causes one more mail: the one that says that it is the last.
local maxPerHour = 30
local hourMs = 3600000

-- Milliseconds after which a mail expires. Runners try to send a mail for less time. While runners have no mail server, mails expire
-- unsent, because old alerts are of no use.
local keptMs = 2 * 24 * hourMs

-- Maximum number of recipients of one event.
local maxRecipients = 100

-- Returns whether a person exists, is not blocked, and has not switched alerts off.
function mails.wantsAlerts(prefix, user)
  return webhooks.hasAccess(prefix, user) and redis.call('HGET', prefix .. user, 'alertEmails') ~= 'false'
end

-- Returns the recipients of the router's alerts: the addresses in the console settings; nobody, if the settings switch these mails off;
-- otherwise all administrators.
local function routerRecipients(prefix)
  local isRead, setting = pcall(cjson.decode, redis.call('HGET', prefix .. 'console-settings', 'alertEmails') or '')
  local router = true
  if isRead and type(setting) == 'table' then
    router = setting.router
  end
  local found = {}
  if type(router) == 'table' then
    for _, address in ipairs(router) do
      table.insert(found, 'address:' .. address)
    end
  elseif router ~= false then
    for _, id in ipairs(redis.call('SMEMBERS', prefix .. 'admins')) do
      table.insert(found, 'user:' .. id)
    end
  end
  return found
end

-- Returns the recipients of an owner's events: the person, or the owners of the team. The events of the router and of a team without owners
-- go to the recipients of the router's alerts.
local function recipientsOf(prefix, owner)
  if string.sub(owner, 1, 5) == 'user:' then
    return { owner }
  end
  local found = {}
  if string.sub(owner, 1, 5) == 'team:' then
    local members = redis.call('HGETALL', prefix .. 'members-of:' .. string.sub(owner, 6))
    for at = 1, #members, 2 do
      if members[at + 1] == 'owner' then
        table.insert(found, 'user:' .. members[at])
      end
    end
  end
  return #found > 0 and found or routerRecipients(prefix)
end

-- Returns the number that a further mail to a recipient has among the mails of the hour, or nil if no further mail may be sent. Also
-- returns whether it is the last mail of its source.
local function countSent(prefix, to, source)
  local number = tonumber(redis.call('GET', prefix .. 'alert-mails-to:' .. to) or 0) + 1
  local ofSource = source and tonumber(redis.call('HGET', prefix .. 'alert-mails-by:' .. to, source) or 0) + 1 or 0
  if number > maxPerHour or ofSource > maxPerHour then
    return nil
  end
  return number, ofSource >= math.ceil((maxPerHour - (number - ofSource)) / 2)
end

-- Stores a mail about an event for each recipient of the owners. `event` is as for `webhooks.emit`. `source` names the part that causes
-- such events; nil for an event without a share of its own.
function mails.send(prefix, event, owners, source)
  local now, due, count = webhooks.now(), prefix .. 'alert-mails-due', 0
  for _, owner in ipairs(owners) do
    for _, to in ipairs(recipientsOf(prefix, owner)) do
      local id = redis.sha1hex(event.id .. ' ' .. to)
      local mail, sent = prefix .. 'alert-mail:' .. id, prefix .. 'alert-mails-to:' .. to
      local isWanted = string.sub(to, 1, 5) ~= 'user:' or mails.wantsAlerts(prefix, to)
      local waiting = prefix .. 'alert-mails-of:' .. to
      redis.call('ZREMRANGEBYSCORE', waiting, '-inf', webhooks.whole(now - keptMs))
      local hasRoom = count < maxRecipients and redis.call('ZCARD', due) < maxWaiting
      hasRoom = hasRoom and redis.call('ZCARD', waiting) < maxWaitingOf
      local number, isLastOfSource = countSent(prefix, to, source)
      if isWanted and hasRoom and number and redis.call('EXISTS', mail) == 0 then
        redis.call('INCR', sent)
        if number == 1 then
          redis.call('PEXPIRE', sent, hourMs)
        end
        local endsInMs = redis.call('PTTL', sent)
        if source then
          local by = prefix .. 'alert-mails-by:' .. to
          redis.call('HINCRBY', by, source, isLastOfSource and maxPerHour or 1)
          redis.call('PEXPIRE', by, endsInMs)
        end
        local at = webhooks.whole(now)
        redis.call('HSET', mail, 'id', id, 'event', event.id, 'type', event.type, 'data', event.data, 'to', to)
        redis.call('HSET', mail, 'attempts', 0, 'createdAt', at)
        redis.call('PEXPIRE', mail, keptMs)
        redis.call('ZADD', waiting, at, id)
        redis.call('PEXPIRE', waiting, keptMs)
        if number == maxPerHour or isLastOfSource then
          redis.call('HSET', mail, 'pausedUntil', webhooks.whole(now + endsInMs))
        end
        if number < maxPerHour and isLastOfSource then
          redis.call('HSET', mail, 'pausedSource', source)
        end
        -- The thousandths keep mails of one millisecond in the order in which they were made.
        redis.call('ZADD', due, string.format('%.3f', now - 1 + number / 1000), id)
        count = count + 1
      end
    end
  end
end

-- Takes a mail for a try until `untilMs`. If runners already try the maximum number of mails to its recipient, the mail instead waits until
-- one of these tries ends. Returns whether the mail was taken.
function mails.take(prefix, id, to, now, untilMs)
  local tries = 0
  for _, other in ipairs(redis.call('ZRANGE', prefix .. 'alert-mails-of:' .. to, 0, -1)) do
    local takenUntil = redis.call('HGET', prefix .. 'alert-mail:' .. other, 'takenUntil')
    if other ~= id and tonumber(takenUntil or 0) > now then
      tries = tries + 1
    end
  end
  local isTaken, at = tries < maxTriesOf, webhooks.whole(untilMs)
  redis.call('HDEL', prefix .. 'alert-mail:' .. id, 'takenUntil', 'waitsForOthers')
  redis.call('HSET', prefix .. 'alert-mail:' .. id, isTaken and 'takenUntil' or 'waitsForOthers', at)
  redis.call('ZADD', prefix .. 'alert-mails-due', at, id)
  return isTaken
end

-- Makes one mail due: the oldest mail to a recipient that waits for the end of another try.
local function wakeNext(prefix, to)
  for _, id in ipairs(redis.call('ZRANGE', prefix .. 'alert-mails-of:' .. to, 0, -1)) do
    if redis.call('HDEL', prefix .. 'alert-mail:' .. id, 'waitsForOthers') == 1 then
      redis.call('ZADD', prefix .. 'alert-mails-due', webhooks.whole(webhooks.now()), id)
      return
    end
  end
end

-- Ends a try of a mail, and makes the mail due again at the time `at`.
function mails.postpone(prefix, id, at)
  local mail = prefix .. 'alert-mail:' .. id
  redis.call('HDEL', mail, 'runningUntil', 'takenUntil')
  redis.call('ZADD', prefix .. 'alert-mails-due', webhooks.whole(at), id)
  wakeNext(prefix, redis.call('HGET', mail, 'to'))
end

function mails.remove(prefix, id)
  local to = redis.call('HGET', prefix .. 'alert-mail:' .. id, 'to')
  redis.call('DEL', prefix .. 'alert-mail:' .. id)
  redis.call('ZREM', prefix .. 'alert-mails-due', id)
  redis.call('ZREM', prefix .. 'alert-mails-of:' .. to, id)
  wakeNext(prefix, to)
end
