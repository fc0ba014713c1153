-- Reserves the most that a request may cost, for all parties or for none.
--
-- ARGV[1]  JSON:
--   prefix   start of all names
--   id       id of the reservation
--   keepMs   milliseconds until the reservation expires
--   tokens
--   cost     in nano-dollars
--   parties  see reservations.lua
-- Returns {1 if reserved or 0 if refused, the time in ms since 1970, then eleven numbers for the current use of each party}.
local function exceeds(spent, reserved, wanted, limit)
  return limit and wanted > 0 and spent + reserved + wanted > limit
end

-- A limit does not refuse a request that uses nothing of what it limits. So free work continues when a budget is used up.
local function fits(use)
  local limits, tokens, cost = use.limits, args.tokens, args.cost
  return not (
    exceeds(use.requests, 0, 60000, limits.requestsPerMinute and limits.requestsPerMinute * 60000)
    or exceeds(use.tokens, 0, tokens * 60000, limits.tokensPerMinute and limits.tokensPerMinute * 60000)
    or exceeds(use.active, 0, 1, limits.concurrentRequests)
    or exceeds(use.dayTokens, use.dayReservedTokens, tokens, limits.tokensPerDay)
    or exceeds(use.monthTokens, use.monthReservedTokens, tokens, limits.tokensPerMonth)
    or exceeds(use.dayCost, use.dayReservedCost, cost, limits.costPerDay)
    or exceeds(use.monthCost, use.monthReservedCost, cost, limits.costPerMonth)
  )
end

local function readUses()
  local uses = {}
  local allFit = true
  for index, party in ipairs(args.parties) do
    uses[index] = readUse(party)
    allFit = allFit and fits(uses[index])
  end
  return uses, allFit
end

local uses, granted
repeat
  local swept = sweep()
  uses, granted = readUses()
until granted or swept < sweptAtOnce

if granted then
  local names = {}
  for index, use in ipairs(uses) do
    names[index] = use.party
    redis.call('HSET', use.name,
      'requests', whole(use.requestsLevel + 60000), 'requestsAt', whole(now),
      'tokens', whole(use.tokensLevel), 'tokensAt', whole(now))
  end
  local reservation = {
    tokens = args.tokens,
    cost = args.cost,
    day = whole(today),
    month = monthOf(today),
    parties = table.concat(names, '\n'),
  }
  redis.call('HSET', prefix .. 'reservation:' .. args.id,
    'tokens', whole(args.tokens), 'cost', whole(args.cost),
    'day', reservation.day, 'month', reservation.month, 'parties', reservation.parties)
  redis.call('ZADD', reservations, whole(now + args.keepMs), args.id)
  book(reservation, 1)
  uses = readUses()
end

local reply = { granted and 1 or 0, now }
for _, use in ipairs(uses) do
  addToReply(reply, use)
end
return reply
