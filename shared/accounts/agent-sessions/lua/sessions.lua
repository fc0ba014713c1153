-- Writes turns of coding agents' sessions. This file stands before `ledger.lua`, whose `writeUsage` calls `writeSessions`.
--
--   <prefix>sessions:all                 sorted set: `<owner>/<id>` of sessions by the time of their last turn; bounded in number and age
--   <prefix>sessions:of:<owner>          sorted set: the ids of an owner's sessions by the time of their last turn; bounded in number and
--                                        age
--   <prefix>sessions:session:<id>        hash: owner, name, program, key, startedAt, lastAt; and the sums of the session's turns, all and
--                                        by model, see session-sums.ts
--   <prefix>sessions:agents:<id>         hash: `@<agent>`, the description of an agent, and `=<agent>`, the time of its last turn and its
--                                        sums, with spaces between them; the main agent has an empty id. Lists do not read this hash,
--                                        because clients may name any number of agents.
--   <prefix>sessions:turns:<id>          list: ids of the session's turns in the stream `requests` of the ledger, oldest first; bounded
--   <prefix>sessions:day:<owner>:<day>   hash: the sums of the turns of an owner's sessions in a day
--
-- All these entries expire.

-- Removes a session.
local function dropSession(base, owner, id)
  redis.call('DEL', base .. 'session:' .. id, base .. 'agents:' .. id, base .. 'turns:' .. id)
  redis.call('ZREM', base .. 'of:' .. owner, id)
  redis.call('ZREM', base .. 'all', owner .. '/' .. id)
end

-- Adds sums to the rows of a hash. When the hash has the maximum of fields, a new row is counted under its substitute.
local function addToRows(hash, rows, most, letters)
  for _, each in ipairs(rows) do
    local row = each.row
    if redis.call('HLEN', hash) >= most and redis.call('HEXISTS', hash, 'n' .. row) == 0 then
      row = each.substitute
    end
    for index, letter in ipairs(letters) do
      if each.counts[index] ~= 0 then
        redis.call('HINCRBY', hash, letter .. row, each.counts[index])
      end
    end
  end
end

-- Adds turns to the agents of a session. When the maximum of agents is reached, further agents are counted together.
-- Returns how many agents are new.
local function addToAgents(hash, agents, most, further)
  local new = 0
  for _, each in ipairs(agents) do
    local agent = each.agent
    if each.facts and redis.call('HEXISTS', hash, '@' .. agent) == 0 then
      if redis.call('HLEN', hash) < 2 * most then
        redis.call('HSET', hash, '@' .. agent, each.facts)
        new = new + 1
      else
        agent = further
      end
    end
    local before = {}
    for value in string.gmatch(redis.call('HGET', hash, '=' .. agent) or '', '%S+') do
      before[#before + 1] = tonumber(value)
    end
    local values = { string.format('%.0f', math.max(before[1] or 0, each.last)) }
    for index, count in ipairs(each.counts) do
      values[index + 1] = string.format('%.0f', (before[index + 1] or 0) + count)
    end
    redis.call('HSET', hash, '=' .. agent, table.concat(values, ' '))
  end
  return new
end

-- Writes the turns among requests that are written together.
--
--   prefix
--   sessions   undefined if there are no turns to write, else:
--     most       { ofOwner, all, turns, agents, fields, dayFields }: maximum numbers of an owner's sessions, of all sessions, of turns and
--                agents of a session, of fields in a session's hash, and of fields in the hash of a day
--     keptMs     milliseconds for which a session is kept after its last turn
--     dayKeptMs  milliseconds for which the sums of a day are kept after the day's last turn was written
--     oldest     sessions whose last turn began before this time, in ms since 1970, are removed
--     letters    letters of the sums, in the order of the counts of a row
--     all        text of the row `all`
--     further    id that stands for all agents that are counted together
--     days       a list of { owner, day, rows: [{ row, substitute, counts }] }
--     entries    a list of { id, owner, facts, first, last, day, rows, agents: [{ agent, facts, last, counts }], turns }; `turns` are
--                positions in `written`
--   written    the ids of the requests in the stream
local function writeSessions(prefix, sessions, written)
  if not sessions then
    return
  end
  local base = prefix .. 'sessions:'
  local most = sessions.most
  local all = base .. 'all'
  local function dayOf(each)
    return base .. 'day:' .. each.owner .. ':' .. each.day
  end

  for _, day in ipairs(sessions.days) do
    addToRows(dayOf(day), day.rows, most.dayFields, sessions.letters)
    redis.call('PEXPIRE', dayOf(day), sessions.dayKeptMs)
  end

  local owners = {}
  for _, entry in ipairs(sessions.entries) do
    local hash = base .. 'session:' .. entry.id
    local agents = base .. 'agents:' .. entry.id
    local turns = base .. 'turns:' .. entry.id
    local own = base .. 'of:' .. entry.owner
    owners[entry.owner] = own

    local startedAt, lastAt = unpack(redis.call('HMGET', hash, 'startedAt', 'lastAt'))
    local last = math.max(tonumber(lastAt or 0), entry.last)
    local fields = { 'startedAt', startedAt or entry.first, 'lastAt', last }
    for name, value in pairs(entry.facts) do
      fields[#fields + 1] = name
      fields[#fields + 1] = value
    end
    redis.call('HSET', hash, unpack(fields))
    if not startedAt then
      redis.call('HINCRBY', dayOf(entry), 's' .. sessions.all, 1)
    end
    local newAgents = addToAgents(agents, entry.agents, most.agents, sessions.further)
    if newAgents > 0 then
      redis.call('HINCRBY', hash, 'a' .. sessions.all, newAgents)
      redis.call('HINCRBY', dayOf(entry), 'a' .. sessions.all, newAgents)
    end
    addToRows(hash, entry.rows, most.fields, sessions.letters)
    for _, place in ipairs(entry.turns) do
      redis.call('RPUSH', turns, written[place])
    end
    redis.call('LTRIM', turns, -most.turns, -1)
    redis.call('PEXPIRE', hash, sessions.keptMs)
    redis.call('PEXPIRE', agents, sessions.keptMs)
    redis.call('PEXPIRE', turns, sessions.keptMs)
    redis.call('ZADD', all, last, entry.owner .. '/' .. entry.id)
    redis.call('ZADD', own, last, entry.id)
  end

  for owner, own in pairs(owners) do
    redis.call('PEXPIRE', own, sessions.keptMs)
    redis.call('ZREMRANGEBYSCORE', own, '-inf', '(' .. sessions.oldest)
    for _, id in ipairs(redis.call('ZRANGE', own, 0, -1 - most.ofOwner)) do
      dropSession(base, owner, id)
    end
  end
  redis.call('PEXPIRE', all, sessions.keptMs)
  redis.call('ZREMRANGEBYSCORE', all, '-inf', '(' .. sessions.oldest)
  for _, member in ipairs(redis.call('ZRANGE', all, 0, -1 - most.all)) do
    local owner, id = string.match(member, '^(.*)/(.-)$')
    dropSession(base, owner, id)
  end
end
