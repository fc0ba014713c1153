-- Stores the answer of a provider about a person, in place of the previous answer. Stores nothing for a person who was deleted meanwhile.
--
-- KEYS[1]  accounts at providers (hash: issuer and subject to the id of a person)
-- KEYS[2]  record of the person (hash)
-- KEYS[3]  the person's account at a provider (hash)
-- ARGV[1]  JSON:
--   external  issuer and subject
--   userId
--   now       ms since 1970
--   over      `turn` of the answer that is replaced, '' if that answer has none; absent to replace any answer
--   account   fields of the person's account at the provider
-- Returns 1, also if the answer with the same `turn` was stored before; 0 if an answer other than `over` is stored, or the account at the
-- provider no longer belongs to the person.
local externals, user, account = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', user) == 0 or redis.call('HGET', externals, args.external) ~= args.userId then
  return 0
end
local turn = redis.call('HGET', account, 'turn') or ''
if args.over and turn ~= args.over and turn ~= args.account.turn then
  return 0
end
redis.call('DEL', account)
for name, value in pairs(args.account) do
  redis.call('HSET', account, name, value)
end
if tonumber(args.account.goodUntil) > args.now then
  redis.call('HDEL', user, 'refusedAt')
end
return 1
