-- Common functions of the scripts in this folder. This file is prepended to each of them. All names begin with one prefix:
--
--   <prefix>reservations             sorted set: ids of the reservations in force, by the time at which they expire
--   <prefix>reservation:<id>         hash: tokens, cost, day, month, parties (one on each line); `expired` once it is out of force; for a
--                                    share also `number`, the number of its last report, and `requests`
--   <prefix><party>                  hash: active, reservedTokens; requests and tokens, the levels of two buckets, each with the time
--                                    (`…At`) for which it was computed; `share:<id>` for each share of the party: when it expires, how
--                                    many requests may begin on it, and how many may run on it at once, including running requests
--   <prefix><party>:<day or month>   hash: tokens and cost that were spent, reservedTokens and reservedCost
--
-- A bucket contains recent use, and leaks its limit in a minute. Levels are in requests or tokens times 60000. So the amount that leaks in
-- a millisecond is a whole number, the limit itself. Reserved tokens are not in the bucket and do not leak. They count in full until the
-- request is over. Then the actual use is added to the bucket. Costs are in nano-dollars. All numbers are whole and below 2^53.
--
-- A share is a reservation for future requests (see `share.lua`). The hash of each party states how many requests may begin on the share,
-- and how many may run on it at once. Both numbers count as use until the share expires.
--
-- The scripts compute names themselves, so they do not run on a Redis cluster. Times are by the clock of Redis, never by a node's clock.
--
-- ARGV[1]  JSON:
--   prefix   start of all names
--   parties  only in some scripts: the parties that a request concerns, each { party, limits }; cost limits are in nano-dollars; absent
--            limits do not apply
local args = cjson.decode(ARGV[1])
local prefix = args.prefix
local reservations = prefix .. 'reservations'

local dayMs = 86400000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local today = math.floor(now / dayMs)

-- Milliseconds for which a party's state is kept after its last use. A request lasts a day at most.
local partyKeptMs = 2 * dayMs
local dayKeptMs = 3 * dayMs
local monthKeptMs = 40 * dayMs
-- Milliseconds for which a reservation is kept after it is out of force. Its request may still be running, and be committed later.
local expiredKeptMs = 2 * dayMs
-- Maximum number of reservations that one sweep takes out of force.
local sweptAtOnce = 1000

-- Lua's own conversion writes large numbers with an exponent.
local function whole(number)
  return string.format('%.0f', number)
end

-- Returns a stored count; 0 if there is none, or it cannot be read.
local function number(text)
  return tonumber(text or '') or 0
end

-- Returns the month, such as 2026-11, of a day counted from 1970. The algorithm and its variables are those of `civil_from_days` in
-- https://howardhinnant.github.io/date_algorithms.html. Its years begin with March, so that leap days come last.
local function monthOf(day)
  local z = day + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d', year, month)
end

-- Returns a reservation; nil if there is none, or it cannot be read.
local function readReservation(id)
  local fields = redis.call('HMGET', prefix .. 'reservation:' .. id,
    'tokens', 'cost', 'day', 'month', 'parties', 'expired', 'number', 'requests')
  local tokens, cost = tonumber(fields[1] or ''), tonumber(fields[2] or '')
  if not (tokens and cost and fields[3] and fields[4] and fields[5]) then
    return nil
  end
  return {
    id = id,
    tokens = tokens,
    cost = cost,
    day = fields[3],
    month = fields[4],
    parties = fields[5],
    expired = fields[6] == '1',
    number = tonumber(fields[7] or ''),
    requests = number(fields[8]),
  }
end

local function addToPeriods(partyName, reservation, tokensField, tokens, costField, cost)
  for period, keptMs in pairs({ [reservation.day] = dayKeptMs, [reservation.month] = monthKeptMs }) do
    local name = partyName .. ':' .. period
    if tokens ~= 0 then
      redis.call('HINCRBY', name, tokensField, whole(tokens))
    end
    if cost ~= 0 then
      redis.call('HINCRBY', name, costField, whole(cost))
    end
    redis.call('PEXPIRE', name, keptMs)
  end
end

-- Adds tokens to the level of the token bucket. Does not change the time of the level, which is when a request of the party last began. So
-- the tokens count as used at that time.
local function addToBucket(partyName, tokens)
  local level = number(redis.call('HGET', partyName, 'tokens'))
  redis.call('HSET', partyName, 'tokens', whole(level + tokens * 60000))
end

-- Adds to a count of reservations in force. The count never falls below 0.
local function addToCount(partyName, field, amount)
  local count = number(redis.call('HGET', partyName, field))
  redis.call('HSET', partyName, field, whole(math.max(0, count + amount)))
end

-- Puts a reservation into force for all its parties (sign 1), or out of force (sign -1).
local function book(reservation, sign)
  for party in string.gmatch(reservation.parties, '[^\n]+') do
    local partyName = prefix .. party
    if not reservation.number then
      addToCount(partyName, 'active', sign)
    elseif sign == 1 then
      redis.call('HSET', partyName, 'share:' .. reservation.id, table.concat({
        whole(reservation.expiresAt), whole(reservation.requests), whole(reservation.places),
      }, ' '))
    else
      redis.call('HDEL', partyName, 'share:' .. reservation.id)
    end
    addToCount(partyName, 'reservedTokens', sign * reservation.tokens)
    addToPeriods(partyName, reservation, 'reservedTokens', sign * reservation.tokens, 'reservedCost', sign * reservation.cost)
    redis.call('PEXPIRE', partyName, partyKeptMs)
  end
end

-- Counts the actual use of a request for all its parties.
local function spend(reservation, tokens, cost)
  for party in string.gmatch(reservation.parties, '[^\n]+') do
    if tokens ~= 0 then
      addToBucket(prefix .. party, tokens)
    end
    redis.call('PEXPIRE', prefix .. party, partyKeptMs)
    addToPeriods(prefix .. party, reservation, 'tokens', tokens, 'cost', cost)
  end
end

local function expire(id)
  local reservation = readReservation(id)
  if reservation then
    book(reservation, -1)
    redis.call('HSET', prefix .. 'reservation:' .. id, 'expired', '1')
    redis.call('PEXPIRE', prefix .. 'reservation:' .. id, expiredKeptMs)
  end
end

-- Takes expired reservations out of force, and returns how many there were. An unreadable reservation must not keep the others in force.
local function sweep()
  local ids = redis.call('ZRANGEBYSCORE', reservations, '-inf', whole(now), 'LIMIT', 0, sweptAtOnce)
  for _, id in ipairs(ids) do
    redis.call('ZREM', reservations, id)
    pcall(expire, id)
  end
  return #ids
end

-- Returns the current level of a bucket; 0 without a limit.
local function bucketLevel(fields, bucket, limit)
  if not limit then
    return 0
  end
  local elapsed = math.max(0, now - (tonumber(fields[bucket .. 'At'] or '') or now))
  return math.max(0, number(fields[bucket]) - elapsed * limit)
end

-- Returns the fields of a party's hash, how many requests may begin on its unexpired shares, and how many may run on them at once.
local function readParty(name)
  local reply = redis.call('HGETALL', name)
  local fields, shareRequests, sharePlaces = {}, 0, 0
  for at = 1, #reply, 2 do
    local field, value = reply[at], reply[at + 1]
    fields[field] = value
    local expiresAt, requests, active = string.match(value, '^(%d+) (%d+) (%d+)$')
    if expiresAt and string.sub(field, 1, 6) == 'share:' then
      if tonumber(expiresAt) > now then
        shareRequests = shareRequests + tonumber(requests)
        sharePlaces = sharePlaces + tonumber(active)
      else
        redis.call('HDEL', name, field)
      end
    end
  end
  return fields, shareRequests, sharePlaces
end

local function readPeriod(name)
  local fields = redis.call('HMGET', name, 'tokens', 'reservedTokens', 'cost', 'reservedCost')
  return number(fields[1]), number(fields[2]), number(fields[3]), number(fields[4])
end

-- Returns the current use of a party. Without a limit of requests or of tokens per minute, the level of that bucket is 0.
local function readUse(party)
  local name = prefix .. party.party
  local use = { name = name, party = party.party, limits = party.limits }
  local fields, shareRequests, sharePlaces = readParty(name)
  use.requestsLevel = bucketLevel(fields, 'requests', party.limits.requestsPerMinute)
  use.requests = use.requestsLevel + shareRequests * 60000
  use.tokensLevel = bucketLevel(fields, 'tokens', party.limits.tokensPerMinute)
  use.active = number(fields.active) + sharePlaces
  use.tokens = use.tokensLevel + number(fields.reservedTokens) * 60000
  use.dayTokens, use.dayReservedTokens, use.dayCost, use.dayReservedCost = readPeriod(name .. ':' .. today)
  use.monthTokens, use.monthReservedTokens, use.monthCost, use.monthReservedCost = readPeriod(name .. ':' .. monthOf(today))
  return use
end

-- Adds a use to the reply, as eleven numbers in the order that `party-use.ts` reads.
local function addToReply(reply, use)
  for _, field in ipairs({
    'requests', 'tokens', 'active',
    'dayTokens', 'dayReservedTokens', 'dayCost', 'dayReservedCost',
    'monthTokens', 'monthReservedTokens', 'monthCost', 'monthReservedCost',
  }) do
    reply[#reply + 1] = use[field]
  end
end
