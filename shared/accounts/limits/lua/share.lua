-- Processes a report of a share. Counts the use of the share's requests, and keeps the share's free room. Reserves more room if all limits
-- are far from reached. Restores a share that is missing or out of force. If an earlier report is missing, keeps only what running requests
-- have drawn, not the free room. A repeated report changes nothing.
-- ARGV[1]  JSON:
--   prefix   start of all names
--   id       id of the share
--   number   number of the report: 1, 2, …
--   beganAt  the time in the reply to the first report, in ms since 1970; requests count in its day and month; absent in the first report
--   keepMs   milliseconds until the share expires
--   begun    number of requests that began since the last report
--   running  number of unfinished requests
--   spent    { tokens, cost } of requests that ended since the last report
--   drawn    { tokens, cost } reserved for unfinished requests
--   free     { requests, tokens, cost, places } reserved for future requests; places: how many more may run at once
--   more     { requests, tokens, cost, places } to reserve in addition; absent to reserve nothing
--   least    { requests, tokens, cost, places } of one average request; a share with less is of no use
--   parties  see reservations.lua
-- Returns {1 if `free` is kept else 0, 1 if all limits are far from reached else 0, requests, tokens, cost and places that were reserved in
-- addition, the time in ms since 1970, then eleven numbers for the current use of each party}.

-- A limit is far from reached while an eighth of it is left. One report may reserve a thirty-second of what is left of a limit.
local farPart, sharePart = 8, 32

local function eachLimit(use, call)
  local limits = use.limits
  call('requests', limits.requestsPerMinute, use.requests / 60000)
  call('places', limits.concurrentRequests, use.active)
  call('tokens', limits.tokensPerMinute, use.tokens / 60000)
  call('tokens', limits.tokensPerDay, use.dayTokens + use.dayReservedTokens)
  call('tokens', limits.tokensPerMonth, use.monthTokens + use.monthReservedTokens)
  call('cost', limits.costPerDay, use.dayCost + use.dayReservedCost)
  call('cost', limits.costPerMonth, use.monthCost + use.monthReservedCost)
end

local quantities = { 'requests', 'tokens', 'cost', 'places' }
local none = { requests = 0, tokens = 0, cost = 0, places = 0 }

-- Returns what to reserve in addition; nil if a limit is nearly reached, or the share would have too little for a request.
local function computeAddition(uses, free)
  local more = args.more or none
  local addition = { requests = more.requests, tokens = more.tokens, cost = more.cost, places = more.places }
  local isFar = true
  for _, use in ipairs(uses) do
    eachLimit(use, function(quantity, limit, used)
      if limit and args.least[quantity] > 0 then
        addition[quantity] = math.max(0, math.min(addition[quantity], math.floor((limit - used) / sharePart)))
        isFar = isFar and limit - used - addition[quantity] >= limit / farPart
      end
    end)
  end
  for _, quantity in ipairs(quantities) do
    isFar = isFar and (not args.more or free[quantity] + addition[quantity] >= args.least[quantity])
  end
  return isFar and addition or nil
end

local function readUses()
  local uses = {}
  for index, party in ipairs(args.parties) do
    uses[index] = readUse(party)
  end
  return uses
end

-- Counts the use of ended requests, as a commit does, and the requests that have begun since the last report.
local function countUse(share)
  spend(share, args.spent.tokens, args.spent.cost)
  if args.begun > 0 then
    for _, use in ipairs(readUses()) do
      redis.call('HSET', use.name,
        'requests', whole(use.requestsLevel + args.begun * 60000), 'requestsAt', whole(now),
        'tokens', whole(use.tokensLevel), 'tokensAt', whole(now))
    end
  end
end

local function joinParties()
  local parties = {}
  for index, party in ipairs(args.parties) do
    parties[index] = party.party
  end
  return table.concat(parties, '\n')
end

local function store(share)
  redis.call('HSET', prefix .. 'reservation:' .. share.id,
    'tokens', whole(share.tokens), 'cost', whole(share.cost), 'requests', whole(share.requests), 'number', whole(share.number),
    'day', share.day, 'month', share.month, 'parties', share.parties)
  redis.call('ZADD', reservations, whole(share.expiresAt), share.id)
  book(share, 1)
end

while sweep() == sweptAtOnce do end
local stored = readReservation(args.id)
local isInForce = stored ~= nil and not stored.expired
-- After a failover, the report in which `free` was reserved may be missing.
local isKept = isInForce and stored.number == args.number - 1
local free = isKept and args.free or none
local addition
if args.number > (stored and stored.number or 0) then
  if isInForce then
    book(stored, -1)
  elseif stored then
    redis.call('HDEL', prefix .. 'reservation:' .. args.id, 'expired')
    redis.call('PERSIST', prefix .. 'reservation:' .. args.id)
  end
  local day = math.floor((args.beganAt or now) / dayMs)
  local share = {
    id = args.id,
    number = args.number,
    day = whole(day),
    month = monthOf(day),
    parties = joinParties(),
    expiresAt = now + args.keepMs,
    places = args.running + free.places,
    requests = free.requests,
    tokens = args.drawn.tokens + free.tokens,
    cost = args.drawn.cost + free.cost,
  }
  countUse(share)
  store(share)
  addition = computeAddition(readUses(), free)
  if addition and args.more then
    book(share, -1)
    for _, quantity in ipairs(quantities) do
      share[quantity] = share[quantity] + addition[quantity]
    end
    store(share)
  end
end

local reply = { isKept and 1 or 0, addition and 1 or 0 }
for _, quantity in ipairs(quantities) do
  reply[#reply + 1] = (addition or none)[quantity]
end
reply[#reply + 1] = now
for _, use in ipairs(readUses()) do
  addToReply(reply, use)
end
return reply
