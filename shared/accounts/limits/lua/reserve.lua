-- Reserves what a request may come to for all its parties, or for none.
--
-- ARGV[1]   prefix of all names
-- ARGV[2]   id of the reservation
-- ARGV[3]   milliseconds until it expires
-- ARGV[4]   tokens, ARGV[5] cost in nano-dollars
-- ARGV[6…]  eight values for each party, as readUse has them
-- Returns {1 or 0 (held or refused), the time in ms since 1970, then eleven numbers for each party: as they are now}.
local tokens = tonumber(ARGV[4])
local cost = tonumber(ARGV[5])

local function over(spent, held, wanted, limit)
  return limit > 0 and wanted > 0 and spent + held + wanted > limit
end

-- What is not wanted is not refused: work that costs nothing goes on when the money is spent.
local function fits(use)
  local limits = use.limits
  return not (
    over(use.requests, 0, 60000, limits[1] * 60000)
    or over(use.tokens, 0, tokens * 60000, limits[2] * 60000)
    or over(use.active, 0, 1, limits[3])
    or over(use.dayTokens, use.dayHeldTokens, tokens, limits[4])
    or over(use.monthTokens, use.monthHeldTokens, tokens, limits[5])
    or over(use.dayCost, use.dayHeldCost, cost, limits[6])
    or over(use.monthCost, use.monthHeldCost, cost, limits[7])
  )
end

local function readUses()
  local uses = {}
  local allFit = true
  for from = 6, #ARGV, 8 do
    local use = readUse(from)
    uses[#uses + 1] = use
    allFit = allFit and fits(use)
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
    names[index] = ARGV[6 + (index - 1) * 8]
    redis.call('HSET', use.name,
      'requests', whole(use.requests + 60000), 'requestsAt', whole(now),
      'tokens', whole(use.tokensLevel), 'tokensAt', whole(now))
  end
  local reservation = {
    tokens = tokens,
    cost = cost,
    day = whole(today),
    month = monthOf(today),
    parties = table.concat(names, '\n'),
  }
  redis.call('HSET', prefix .. 'reservation:' .. ARGV[2],
    'tokens', whole(tokens), 'cost', whole(cost), 'day', reservation.day, 'month', reservation.month, 'parties', reservation.parties)
  redis.call('ZADD', reservations, whole(now + tonumber(ARGV[3])), ARGV[2])
  book(reservation, 1)
  uses = readUses()
end

local answer = { granted and 1 or 0, now }
for _, use in ipairs(uses) do
  reportUse(answer, use)
end
return answer
