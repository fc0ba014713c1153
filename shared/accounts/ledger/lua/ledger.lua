-- Common functions of the scripts that write into the usage ledger. This file is prepended to each of them, after `sessions.lua` and
-- `key-names.lua`.
--
--   <prefix>requests           stream: single requests, the field `r` is JSON; bounded in number and age
--   <prefix>ids                string that expires: the number of the newest hash of ids
--   <prefix>ids:<number>       hashes that expire: each id to the stream ids of its requests, see request-index.ts
--   <prefix><day or month>     hash: totals, see totals.ts
--   <prefix>spans:<period>     hashes that expire: everybody's sums of five minutes or an hour, see span-sums.ts
--   <prefix>spans:<period>:<owner>   hashes that expire: the sums of a person or team in the same periods

-- Adds the stream id of a request to the text `streamIds`, which lists the stream ids of all requests with the same id. Returns the new
-- text. Keeps the eight newest stream ids of each owner, and 64 in all.
local function addStreamId(streamIds, owner, entry)
  local kept, ofOwner = {}, {}
  for streamId in string.gmatch(streamIds, '[^,]+') do
    local list = string.sub(streamId, 1, #owner + 1) == owner .. ' ' and ofOwner or kept
    list[#list + 1] = streamId
  end
  if #ofOwner == 0 and #kept > 56 then
    return streamIds
  end
  ofOwner[#ofOwner + 1] = owner .. ' ' .. entry
  for index = math.max(1, #ofOwner - 7), #ofOwner do
    kept[#kept + 1] = ofOwner[index]
  end
  return table.concat(kept, ',')
end

-- Stores the stream ids of requests by their id. When a hash is full, a new hash begins, and the oldest hash is removed.
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
    local streamIds = redis.call('HGET', name, id)
    redis.call('HSET', name, id, streamIds and addStreamId(streamIds, owner, entry) or owner .. ' ' .. entry)
  end
  redis.call('SET', state, current, 'PX', ledger.keptMs)
  redis.call('PEXPIRE', name, ledger.keptMs)
end

-- Adds to fields whose value consists of several counts, separated by spaces. With one field for each count, there would be five times as
-- many fields, and Redis searches a small hash from its beginning for each field.
local function addCounts(name, sums)
  local fields = {}
  for field in pairs(sums) do
    fields[#fields + 1] = field
  end
  for from = 1, #fields, 1000 do
    local to = math.min(from + 999, #fields)
    local values = {}
    for place, before in ipairs(redis.call('HMGET', name, unpack(fields, from, to))) do
      local field = fields[from + place - 1]
      local counts, added = {}, sums[field]
      for count in string.gmatch(before or '', '%S+') do
        counts[#counts + 1] = (added[#counts + 1] or 0) + (tonumber(count) or 0)
      end
      for index = #counts + 1, #added do
        counts[index] = added[index]
      end
      local last = #counts
      while last > 1 and counts[last] == 0 do
        last = last - 1
      end
      values[2 * place - 1] = field
      values[2 * place] = table.concat(counts, ' ', 1, last)
    end
    redis.call('HSET', name, unpack(values))
  end
end

-- Adds to one hash of sums. Entities beyond the maximum number of fields are counted under their substitute.
local function writeSpanPart(name, part)
  local sums = {}
  for field, counts in pairs(part.overall) do
    sums[field] = counts
  end
  local size = redis.call('HLEN', name)
  local mayExceedMaximum = size + #part.entities >= part.maxFields
  for _, entity in ipairs(part.entities) do
    if not mayExceedMaximum or redis.call('HEXISTS', name, entity.row) == 1 then
      sums[entity.row] = entity.counts
    elseif size < part.maxFields then
      size = size + 1
      sums[entity.row] = entity.counts
    else
      local counts = {}
      for index, count in ipairs(entity.counts) do
        counts[index] = count + (sums[entity.substitute] and sums[entity.substitute][index] or 0)
      end
      sums[entity.substitute] = counts
    end
  end
  addCounts(name, sums)
end

-- Adds to the sums of five minutes and of hours. If a period has the maximum number of owners, requests of further owners count only in the
-- sums of everybody.
local function writeSpans(ledger)
  for _, span in ipairs(ledger.spans) do
    for _, period in ipairs(span.periods) do
      local everybody = ledger.prefix .. 'spans:' .. period.name
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
          redis.call('PEXPIREAT', name, period.expiresAt)
        end
      end
    end
  end
end

-- Writes finished requests: each request as an entry of the stream, and all of them into the sums and totals of their periods.
--
--   ledger:
--     prefix       start of all names
--     maxRequests  maximum number of single requests that are kept
--     oldest       single requests that were written before this time, in ms since 1970, may be removed
--     keptMs       milliseconds for which single requests are kept
--     ids          a list of { id, owner }, one for each request
--     idsAtOnce    maximum number of ids in one hash
--     olderIds     number of hashes of ids that are kept in addition to the newest one
--     maxFields    maximum number of fields of a period; further rows are counted under their substitute
--     keyNames     { id: name }
--     keyNameBounds  see `writeKeyNames`
--     sessions     see `writeSessions`; absent if there are no turns
--     totals       a list of { period, expiresAt (ms since 1970), row, substitute, counts (one for each of the letters below) }
--     maxOwners    maximum number of owners whose sums are counted separately in one period
--     spans        a list of { periods, parts }, see span-sums.ts; a period is { name, expiresAt }
--   first          position of the first request in ARGV; the others follow
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

  writeKeyNames(ledger.prefix, ledger.keyNames, ledger.keyNameBounds)

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
