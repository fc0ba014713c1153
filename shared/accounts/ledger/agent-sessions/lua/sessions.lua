-- Writes the turns of coding agents' sessions. This file is prepended to `ledger.lua`, where `writeUsage` calls `writeSessions`.
--
--   <prefix>sessions:all                 sorted set: `<owner>/<id>` of sessions by the time of their last turn; bounded in number and age
--   <prefix>sessions:of:<owner>          sorted set: the ids of an owner's sessions by the time of their last turn; bounded in number and
--                                        age
--   <prefix>sessions:session:<id>        hash: owner, name, program, key, startedAt, lastAt; and the sums of the session's turns, in total
--                                        and by model, see session-sums.ts
--   <prefix>sessions:agents:<id>         hash: `@<agent>`, the description of an agent; `=<agent>`, the time of its last turn and its sums,
--                                        separated by spaces. The main agent has an empty id. Lists of sessions do not read this hash,
--                                        because it may be large.
--   <prefix>sessions:turns:<id>          list: ids of the session's turns in the stream `requests` of the ledger, oldest first; bounded
--   <prefix>sessions:day:<owner>:<day>   hash: the sums of the turns of an owner's sessions in a day
--
-- All of these expire.

local function dropSession(base, owner, id)
  redis.call('DEL', base .. 'session:' .. id, base .. 'agents:' .. id, base .. 'turns:' .. id)
  redis.call('ZREM', base .. 'of:' .. owner, id)
  redis.call('ZREM', base .. 'all', owner .. '/' .. id)
end

-- Adds sums to the rows of a hash. Once the hash has `maxFields` fields, the sums of a new row are added to its substitute.
local function addToRows(hash, additions, maxFields, letters)
  for _, addition in ipairs(additions) do
    local row = addition.row
    if redis.call('HLEN', hash) >= maxFields and redis.call('HEXISTS', hash, 'n' .. row) == 0 then
      row = addition.substitute
    end
    for index, letter in ipairs(letters) do
      if addition.counts[index] ~= 0 then
        redis.call('HINCRBY', hash, letter .. row, addition.counts[index])
      end
    end
  end
end

-- Adds turns to the agents of a session. Once there are `maxAgents` agents, the turns of further agents are added to the agent `others`.
-- Returns how many agents are new.
local function addToAgents(hash, additions, maxAgents, others)
  local newAgents = 0
  for _, addition in ipairs(additions) do
    local agent = addition.agent
    if addition.facts and redis.call('HEXISTS', hash, '@' .. agent) == 0 then
      if redis.call('HLEN', hash) < 2 * maxAgents then
        redis.call('HSET', hash, '@' .. agent, addition.facts)
        newAgents = newAgents + 1
      else
        agent = others
      end
    end
    local before = {}
    for value in string.gmatch(redis.call('HGET', hash, '=' .. agent) or '', '%S+') do
      before[#before + 1] = tonumber(value)
    end
    local values = { string.format('%.0f', math.max(before[1] or 0, addition.last)) }
    for index, count in ipairs(addition.counts) do
      values[index + 1] = string.format('%.0f', (before[index + 1] or 0) + count)
    end
    redis.call('HSET', hash, '=' .. agent, table.concat(values, ' '))
  end
  return newAgents
end

-- Writes the turns among the requests that one run of the ledger script writes.
--
--   prefix
--   sessions   nil if there are no turns to write, else:
--     maxima     { ofOwner, all, turns, agents, fields, dayFields }: maximum numbers of an owner's sessions, of all sessions, of turns and
--                agents of a session, of fields in a session's hash, and of fields in the hash of a day
--     keptMs     milliseconds for which a session is kept after its last turn
--     dayKeptMs  milliseconds for which the sums of a day are kept after the day's last turn was written
--     oldest     sessions whose last turn began before this time, in ms since 1970, are removed
--     letters    letters of the sums, in the order of the counts of a row
--     all        text of the row `all`
--     others     id of the agent that has the sums of all agents beyond the maximum
--     days       a list of { owner, day, rows: [{ row, substitute, counts }] }
--     entries    a list of { id, owner, facts, first, last, day, rows, agents: [{ agent, facts, last, counts }], turns }; `turns` are
--                positions in `written`
--   written    the ids of the requests in the stream
local function writeSessions(prefix, sessions, written)
  if not sessions then
    return
  end
  local base = prefix .. 'sessions:'
  local maxima = sessions.maxima
  local all = base .. 'all'
  local function dayName(entry)
    return base .. 'day:' .. entry.owner .. ':' .. entry.day
  end

  for _, day in ipairs(sessions.days) do
    addToRows(dayName(day), day.rows, maxima.dayFields, sessions.letters)
    redis.call('PEXPIRE', dayName(day), sessions.dayKeptMs)
  end

  local owners = {}
  for _, entry in ipairs(sessions.entries) do
    local hash = base .. 'session:' .. entry.id
    local agents = base .. 'agents:' .. entry.id
    local turns = base .. 'turns:' .. entry.id
    local sessionsOfOwner = base .. 'of:' .. entry.owner
    owners[entry.owner] = sessionsOfOwner

    local startedAt, lastAt = unpack(redis.call('HMGET', hash, 'startedAt', 'lastAt'))
    local last = math.max(tonumber(lastAt or 0), entry.last)
    local fields = { 'startedAt', startedAt or entry.first, 'lastAt', last }
    for name, value in pairs(entry.facts) do
      fields[#fields + 1] = name
      fields[#fields + 1] = value
    end
    redis.call('HSET', hash, unpack(fields))
    if not startedAt then
      redis.call('HINCRBY', dayName(entry), 's' .. sessions.all, 1)
    end
    local newAgents = addToAgents(agents, entry.agents, maxima.agents, sessions.others)
    if newAgents > 0 then
      redis.call('HINCRBY', hash, 'a' .. sessions.all, newAgents)
      redis.call('HINCRBY', dayName(entry), 'a' .. sessions.all, newAgents)
    end
    addToRows(hash, entry.rows, maxima.fields, sessions.letters)
    for _, position in ipairs(entry.turns) do
      redis.call('RPUSH', turns, written[position])
    end
    redis.call('LTRIM', turns, -maxima.turns, -1)
    redis.call('PEXPIRE', hash, sessions.keptMs)
    redis.call('PEXPIRE', agents, sessions.keptMs)
    redis.call('PEXPIRE', turns, sessions.keptMs)
    redis.call('ZADD', all, last, entry.owner .. '/' .. entry.id)
    redis.call('ZADD', sessionsOfOwner, last, entry.id)
  end

  for owner, sessionsOfOwner in pairs(owners) do
    redis.call('PEXPIRE', sessionsOfOwner, sessions.keptMs)
    redis.call('ZREMRANGEBYSCORE', sessionsOfOwner, '-inf', '(' .. sessions.oldest)
    for _, id in ipairs(redis.call('ZRANGE', sessionsOfOwner, 0, -1 - maxima.ofOwner)) do
      dropSession(base, owner, id)
    end
  end
  redis.call('PEXPIRE', all, sessions.keptMs)
  redis.call('ZREMRANGEBYSCORE', all, '-inf', '(' .. sessions.oldest)
  for _, member in ipairs(redis.call('ZRANGE', all, 0, -1 - maxima.all)) do
    local owner, id = string.match(member, '^(.*)/(.-)$')
    dropSession(base, owner, id)
  end
end
