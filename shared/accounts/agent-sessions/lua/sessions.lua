-- Writes turns of coding agents' sessions. It stands before `ledger.lua`, whose `writeUsage` calls it.
--
--   <prefix>sessions:all                 sorted set: `<owner>/<id>` of sessions by the time of their last turn; bounded in number and age
--   <prefix>sessions:of:<owner>          sorted set: the ids of an owner's sessions by the same; bounded in number and age
--   <prefix>sessions:session:<id>        hash: owner, name, program, key, startedAt, lastAt; and the sums of all its turns and by model, see
--                                        session-sums.ts
--   <prefix>sessions:agents:<id>         hash: `@<agent>` and `><agent>`, the facts of an agent and the time of its last turn; and the sums by
--                                        agent. Lists do not read it: clients name agents, as many as they like.
--   <prefix>sessions:turns:<id>          list: ids of its turns in the stream `requests` of the ledger, oldest first; bounded
--   <prefix>sessions:day:<owner>:<day>   hash: the sums of the turns of an owner's sessions in a day
--
-- All of them expire.

-- Removes a session.
local function dropSession(base, owner, id)
  redis.call('DEL', base .. 'session:' .. id, base .. 'agents:' .. id, base .. 'turns:' .. id)
  redis.call('ZREM', base .. 'of:' .. owner, id)
  redis.call('ZREM', base .. 'all', owner .. '/' .. id)
end

-- Adds sums to the rows of a hash. A row that comes when the hash has as many fields as it may have is counted under its substitute.
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

-- Writes the turns of a batch.
--
--   prefix
--   sessions   undefined for none, else:
--     most       { ofOwner, all, turns, fields, agentFields, dayFields }: sessions of an owner, sessions of all, turns of a session, fields
--                of its hash, of that of its agents and of that of a day that are kept at most
--     keptMs, dayKeptMs   for how long a session is kept after its last turn, and a day after it
--     oldest     the time of the last turn of the oldest session that is kept, ms since 1970
--     letters    of the sums, in the order of the counts of a row
--     all        name of a row
--     days       a list of { owner, day, rows: [{ row, substitute, counts }] }
--     entries    a list of { id, owner, facts, first, last, day, rows, agentRows, agents: [{ agent, last, facts }], turns }; `turns` are
--                places among `written`
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
    for _, agent in ipairs(entry.agents) do
      local isKnown = redis.call('HEXISTS', agents, '@' .. agent.agent) == 1
      if isKnown then
        redis.call('HSET', agents, '>' .. agent.agent, agent.last)
      elseif redis.call('HLEN', agents) < most.agentFields then
        redis.call('HSET', agents, '@' .. agent.agent, agent.facts, '>' .. agent.agent, agent.last)
        redis.call('HINCRBY', hash, 'a' .. sessions.all, 1)
        redis.call('HINCRBY', dayOf(entry), 'a' .. sessions.all, 1)
      end
    end
    addToRows(hash, entry.rows, most.fields, sessions.letters)
    addToRows(agents, entry.agentRows, most.agentFields, sessions.letters)
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
