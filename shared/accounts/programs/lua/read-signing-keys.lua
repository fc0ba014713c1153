-- Reads the keys that sign access tokens, newest first, and adds one where the newest is too old. A key is kept for some time after
-- the next one came, while tokens that it has signed may last.
--
-- KEYS[1]  the keys (hash: id to JSON with `createdAt`)
-- ARGV[1]  JSON:
--   now       ms since 1970
--   rotateMs  milliseconds after which the newest is too old
--   keepMs    milliseconds for which a key is kept after the next one came
--   most      keys that are kept
--   id        of the key to add
--   key       as it is stored; absent: none is added
--   isNeeded  true: it is added, however old the newest is
-- Returns the keys as {id, JSON, id, JSON, …}.
local args = cjson.decode(ARGV[1])
local function read()
  local keys = {}
  local stored = redis.call('HGETALL', KEYS[1])
  for at = 1, #stored, 2 do
    keys[#keys + 1] = { id = stored[at], text = stored[at + 1], createdAt = cjson.decode(stored[at + 1]).createdAt }
  end
  table.sort(keys, function(a, b)
    return a.createdAt > b.createdAt or (a.createdAt == b.createdAt and a.id > b.id)
  end)
  return keys
end
local keys = read()
local isOld = #keys == 0 or args.now - keys[1].createdAt >= args.rotateMs
if args.key and (isOld or args.isNeeded) then
  redis.call('HSET', KEYS[1], args.id, args.key)
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
