-- Adds the signing key `added`, if present, and returns the keys of access tokens, newest first. A key is kept for some time after its
-- successor was added, until the tokens that it has signed have expired. A key that this release cannot read is neither returned nor
-- removed.
--
-- KEYS[1]  the keys (hash: id to JSON with `createdAt`)
-- ARGV[1]  JSON:
--   now      ms since 1970
--   keepMs   milliseconds for which a key is kept after its successor was added
--   maxKeys  maximum of keys
--   added    the key to add; absent to add none
--     id
--     text   the stored form of the key
--     after  id of the newest key that the node has read; absent if it has read none. If there is a newer key by now, `added` is not added.
-- Returns the keys as {id, JSON, id, JSON, …}.
local args = cjson.decode(ARGV[1])
local function readKeys()
  local keys = {}
  local stored = redis.call('HGETALL', KEYS[1])
  for index = 1, #stored, 2 do
    local isJson, key = pcall(cjson.decode, stored[index + 1])
    local createdAt = isJson and type(key) == 'table' and key.createdAt
    if type(createdAt) == 'number' then
      keys[#keys + 1] = { id = stored[index], text = stored[index + 1], createdAt = createdAt }
    end
  end
  table.sort(keys, function(a, b)
    return a.createdAt > b.createdAt or (a.createdAt == b.createdAt and a.id > b.id)
  end)
  return keys
end
local keys = readKeys()
local added = args.added
if added and added.after == (keys[1] and keys[1].id) then
  redis.call('HSET', KEYS[1], added.id, added.text)
  keys = readKeys()
end
local reply = {}
for index, key in ipairs(keys) do
  local hasLapsed = index > 1 and args.now - keys[index - 1].createdAt >= args.keepMs
  if hasLapsed or index > args.maxKeys then
    redis.call('HDEL', KEYS[1], key.id)
  else
    reply[#reply + 1] = key.id
    reply[#reply + 1] = key.text
  end
end
return reply
