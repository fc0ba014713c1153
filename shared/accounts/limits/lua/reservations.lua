-- What the scripts of this folder have in common: it stands in front of each. All of it lies under one prefix:
--
--   <prefix>reservations                    sorted set: ids of the reservations in force, by the time at which they expire
--   <prefix>reservation:<id>                hash: tokens, cost, day, month, parties (one a line); `expired` once it is out of force
--   <prefix><party>                  hash: active, heldTokens; requests and tokens, the levels of two buckets, each with the time
--                                    (`…At`) at which it was true
--   <prefix><party>:<day or month>   hash: tokens and cost that were spent, heldTokens and heldCost
--
-- A bucket reservations what was used lately and leaks its limit in a minute. Levels are in units times 60000, so that what leaks in
-- a millisecond is a whole number, the limit itself. What is held is not in the bucket and does not leak: it counts in full
-- until the request is over, and then what it came to goes into the bucket. Costs are nano-dollars. All numbers are whole and below 2^53.
--
-- Names are made here, so the scripts do not run on a Redis cluster. The time is that of Redis, never a node's.
--
-- ARGV[1]  prefix of all names
local prefix = ARGV[1]
local reservations = prefix .. 'reservations'

local dayMs = 86400000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local today = math.floor(now / dayMs)

-- How long after its last use a party's state is kept. A request lasts a day at most.
local partyKeptMs = 2 * dayMs
local dayKeptMs = 3 * dayMs
local monthKeptMs = 40 * dayMs
-- How long a reservation that is out of force waits for the request that may still live and tell what it came to.
local expiredKeptMs = 2 * dayMs
-- Reserves that are swept at once.
local sweptAtOnce = 1000

-- Lua's own conversion writes large numbers with an exponent.
local function whole(number)
  return string.format('%.0f', number)
end

-- The month of a day since 1970, as 2026-11. (Days are counted from the first of March, so that leap days come last.)
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

local function readReservation(id)
  local fields = redis.call('HMGET', prefix .. 'reservation:' .. id, 'tokens', 'cost', 'day', 'month', 'parties', 'expired')
  if not fields[5] then
    return nil
  end
  return {
    tokens = tonumber(fields[1]),
    cost = tonumber(fields[2]),
    day = fields[3],
    month = fields[4],
    parties = fields[5],
    expired = fields[6] == '1',
  }
end

local function addToPeriods(use, reservation, tokensField, tokens, costField, cost)
  for period, keptMs in pairs({ [reservation.day] = dayKeptMs, [reservation.month] = monthKeptMs }) do
    local name = use .. ':' .. period
    if tokens ~= 0 then
      redis.call('HINCRBY', name, tokensField, whole(tokens))
    end
    if cost ~= 0 then
      redis.call('HINCRBY', name, costField, whole(cost))
    end
    redis.call('PEXPIRE', name, keptMs)
  end
end

-- Adds to the level of the bucket of tokens. What leaked meanwhile still counts from the time of the level, so what is
-- added counts as used then: when a request of the party last began.
local function addToBucket(use, tokens)
  local level = tonumber(redis.call('HGET', use, 'tokens') or '0')
  redis.call('HSET', use, 'tokens', whole(level + tokens * 60000))
end

-- Adds to a count of what is in force, which is never less than nothing.
local function addToCount(use, field, amount)
  local count = tonumber(redis.call('HGET', use, field) or '0')
  redis.call('HSET', use, field, whole(math.max(0, count + amount)))
end

-- Puts a reservation into force for all its parties (sign 1), or out of it (sign -1).
local function book(reservation, sign)
  for party in string.gmatch(reservation.parties, '[^\n]+') do
    local use = prefix .. party
    addToCount(use, 'active', sign)
    addToCount(use, 'heldTokens', sign * reservation.tokens)
    addToPeriods(use, reservation, 'heldTokens', sign * reservation.tokens, 'heldCost', sign * reservation.cost)
    redis.call('PEXPIRE', use, partyKeptMs)
  end
end

-- Counts what a request came to, for all its parties.
local function spend(reservation, tokens, cost)
  for party in string.gmatch(reservation.parties, '[^\n]+') do
    addToBucket(prefix .. party, tokens)
    redis.call('PEXPIRE', prefix .. party, partyKeptMs)
    addToPeriods(prefix .. party, reservation, 'tokens', tokens, 'cost', cost)
  end
end

-- Puts reservations that have expired out of force; returns how many.
local function sweep()
  local ids = redis.call('ZRANGEBYSCORE', reservations, '-inf', whole(now), 'LIMIT', 0, sweptAtOnce)
  for _, id in ipairs(ids) do
    redis.call('ZREM', reservations, id)
    local reservation = readReservation(id)
    if reservation then
      book(reservation, -1)
      redis.call('HSET', prefix .. 'reservation:' .. id, 'expired', '1')
      redis.call('PEXPIRE', prefix .. 'reservation:' .. id, expiredKeptMs)
    end
  end
  return #ids
end

local function leaked(use, bucket, limit)
  if limit == 0 then
    return 0
  end
  local fields = redis.call('HMGET', use, bucket, bucket .. 'At')
  local elapsed = math.max(0, now - tonumber(fields[2] or whole(now)))
  return math.max(0, tonumber(fields[1] or '0') - elapsed * limit)
end

local function readPeriod(name)
  local fields = redis.call('HMGET', name, 'tokens', 'heldTokens', 'cost', 'heldCost')
  local numbers = {}
  for index = 1, 4 do
    numbers[index] = tonumber(fields[index] or '0')
  end
  return unpack(numbers)
end

-- What a party has used now. `from` is the index in ARGV of its eight values: name, requests a minute, tokens a minute,
-- requests at once, tokens a day, tokens a month, cost a day, cost a month; 0 stands for no limit.
local function readUse(from)
  local name = prefix .. ARGV[from]
  local limits = {}
  for index = 1, 7 do
    limits[index] = tonumber(ARGV[from + index])
  end
  local use = { name = name, limits = limits }
  use.requests = leaked(name, 'requests', limits[1])
  use.tokensLevel = leaked(name, 'tokens', limits[2])
  local counts = redis.call('HMGET', name, 'active', 'heldTokens')
  use.active = tonumber(counts[1] or '0')
  use.tokens = use.tokensLevel + tonumber(counts[2] or '0') * 60000
  use.dayTokens, use.dayHeldTokens, use.dayCost, use.dayHeldCost = readPeriod(name .. ':' .. today)
  use.monthTokens, use.monthHeldTokens, use.monthCost, use.monthHeldCost = readPeriod(name .. ':' .. monthOf(today))
  return use
end

-- A use as the caller gets it: eleven numbers, in the order of `party-use.ts`.
local function reportUse(answer, use)
  for _, field in ipairs({
    'requests', 'tokens', 'active',
    'dayTokens', 'dayHeldTokens', 'dayCost', 'dayHeldCost',
    'monthTokens', 'monthHeldTokens', 'monthCost', 'monthHeldCost',
  }) do
    answer[#answer + 1] = use[field]
  end
end
