-- What scripts that write into the usage ledger have in common: it stands before each of them, and `sessions.lua` before it.
--
--   <prefix>requests           stream: single requests, the field `r` is JSON; bounded in number and age
--   <prefix>ids                string that expires: the number of the newest hash of ids
--   <prefix>ids:<number>       hashes that expire: where the requests of an id stand in the stream, see request-index.ts
--   <prefix><day or month>     hash: totals, see totals.ts
--   <prefix>spans:<period>     hashes that expire: everybody's sums of five minutes or an hour, see span-sums.ts
--   <prefix>spans:<period>:<owner>   the same of a person or team
--   <prefix>key-names          hash: each key's name when it was last used, by id

-- The places of one id with another one: eight of an owner, the newest, and 64 of all.
local function withPlace(places, owner, entry)
  local kept, own = {}, {}
  for place in string.gmatch(places, '[^,]+') do
    local list = string.sub(place, 1, #owner + 1) == owner .. ' ' and own or kept
    list[#list + 1] = place
  end
  if #own == 0 and #kept > 56 then
    return places
  end
  own[#own + 1] = owner .. ' ' .. entry
  for index = math.max(1, #own - 7), #own do
    kept[#kept + 1] = own[index]
  end
  return table.concat(kept, ',')
end

-- Notes where requests stand. A hash that is full is followed by another one, and the oldest is removed.
local function writeIds(ledger, entries)
  local state = ledger.prefix .. 'ids'
  local current = tonumber(redis.call('GET', state) or '0')
  local name = state .. ':' .. current
  if redis.call('HLEN', name) >= ledger.idsAtOnce then
    redis.call('UNLINK', state .. ':' .. (current - ledger.olderIds))
    current = current + 1
    name = state .. ':' .. current
  end
  for index, entry in ipairs(entries) do
    local id, owner = ledger.ids[index][1], ledger.ids[index][2]
    local places = redis.call('HGET', name, id)
    redis.call('HSET', name, id, places and withPlace(places, owner, entry) or owner .. ' ' .. entry)
  end
  redis.call('SET', state, current, 'PX', ledger.keptMs)
  redis.call('PEXPIRE', name, ledger.keptMs)
end

local function writeSpanPart(name, part)
  local letters = { 'n', 'f', 'p', 'o', '$' }
  for index = 1, #part.whole, 2 do
    redis.call('HINCRBY', name, part.whole[index], part.whole[index + 1])
  end
  for _, thing in ipairs(part.things) do
    local row = thing.row
    if redis.call('HLEN', name) >= part.maxFields and redis.call('HEXISTS', name, 'n' .. row) == 0 then
      row = thing.substitute
    end
    for index, letter in ipairs(letters) do
      if thing.counts[index] ~= 0 then
        redis.call('HINCRBY', name, letter .. row, thing.counts[index])
      end
    end
  end
end

-- Adds to the sums of five minutes and hours. Owners that come when a period has as many as it may have count in everybody's only.
local function writeSpans(ledger)
  for _, span in ipairs(ledger.spans) do
    local everybody = ledger.prefix .. 'spans:' .. span.name
    for _, part in ipairs(span.parts) do
      local name = everybody
      if part.owner ~= '' then
        name = everybody .. ':' .. part.owner
        if redis.call('EXISTS', name) == 0 then
          if tonumber(redis.call('HGET', everybody, '#owners') or '0') >= ledger.maxOwners then
            name = nil
          else
            redis.call('HINCRBY', everybody, '#owners', 1)
          end
        end
      end
      if name then
        writeSpanPart(name, part)
        redis.call('PEXPIREAT', name, span.expiresAt)
      end
    end
  end
end

-- Writes requests that are over: each by itself, and all into the sums and totals of their times.
--
--   ledger:
--     prefix       of all names
--     maxRequests  requests that are kept singly
--     oldest       when the oldest of them may have been written, ms since 1970
--     keptMs       for how long they are kept
--     ids          a list of { id, owner }, one for each request
--     idsAtOnce    ids in one hash
--     olderIds     hashes of ids besides the newest
--     maxFields    fields that a period may have before new rows are counted under their substitute
--     keyNames     { id: name }
--     sessions     see `writeSessions`; absent for none
--     totals       a list of { period, expiresAt (ms since 1970), row, substitute, counts (one for each of the letters below) }
--     maxOwners    owners of one period whose sums are kept apart
--     spans        a list of { name, expiresAt, parts }, see span-sums.ts
--   first          the place of the first request among ARGV; the others follow
local function writeUsage(ledger, first)
  local letters = { 'n', 'f', 'x', 'p', 'c', 'o', 'r', '$', 'i', 's', 'h', 'w' }
  local requests = ledger.prefix .. 'requests'
  local entries = {}
  for index = first, #ARGV do
    local entry = redis.call('XADD', requests, 'MAXLEN', '~', ledger.maxRequests, '*', 'r', ARGV[index])
    entries[#entries + 1] = entry
  end
  redis.call('XTRIM', requests, 'MINID', '~', ledger.oldest)
  if #entries > 0 then
    writeIds(ledger, entries)
  end
  writeSpans(ledger)
  writeSessions(ledger.prefix, ledger.sessions, entries)

  for id, name in pairs(ledger.keyNames) do
    redis.call('HSET', ledger.prefix .. 'key-names', id, name)
  end

  for _, total in ipairs(ledger.totals) do
    local period = ledger.prefix .. total.period
    local row = total.row
    if redis.call('HLEN', period) >= ledger.maxFields and redis.call('HEXISTS', period, 'n' .. row) == 0 then
      row = total.substitute
    end
    for index, letter in ipairs(letters) do
      if total.counts[index] ~= 0 then
        redis.call('HINCRBY', period, letter .. row, total.counts[index])
      end
    end
    redis.call('PEXPIREAT', period, total.expiresAt)
  end
end
