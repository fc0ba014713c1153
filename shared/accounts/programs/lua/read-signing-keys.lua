-- Adds a signing key if there is `added`, and reads the keys that sign access tokens, newest first. A key is kept for some time after its
-- successor was added, because tokens that it has signed may last so long. A key that this release cannot read is neither read nor removed.
--
-- KEYS[1]  the keys (hash: id to JSON with `createdAt`)
-- ARGV[1]  JSON:
--   now     ms since 1970
--   keepMs  milliseconds for which a key is kept after its successor was added
--   most    maximum of keys
--   added   the key to add; absent to add none
--     id
--     text   the key as it is stored
--     after  id of the newest key that the node has read, absent if it has read none; if there is a newer key by now, `added` is not added
-- Returns the keys as {id, JSON, id, JSON, …}.
local args = cjson.decode(ARGV[1])
local function read()
  local keys = {}
  local stored = redis.call('HGETALL', KEYS[1])
  for at = 1, #stored, 2 do
    local isJson, key = pcall(cjson.decode, stored[at + 1])
    local createdAt = isJson and type(key) == 'table' and key.createdAt
    if type(createdAt) == 'number' then
      keys[#keys + 1] = { id = stored[at], text = stored[at + 1], createdAt = createdAt }
    end
  end
  table.sort(keys, function(a, b)
    return a.createdAt > b.createdAt or (a.createdAt == b.createdAt and a.id > b.id)
  end)
  return keys
end
local keys = read()
local added = args.added
if added and added.after == (keys[1] and keys[1].id) then
  redis.call('HSET', KEYS[1], added.id, added.text)
  keys = read()
end
local answer = {}
for at, key in ipairs(keys) do
  local isOver = at > 1 and args.now - keys[at - 1].createdAt >= args.keepMs
  if isOver or at > args.most then
    redis.call('HDEL', KEYS[1], key.id)
  else
    answer[#answer + 1] = key.id
    answer[#answer + 1] = key.text
  end
end
return answer
