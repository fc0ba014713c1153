-- Stores a new admin token, unless its owner has too many tokens. First removes expired tokens from the lists: all of the owner, and those
-- among a hundred random tokens of everybody, so that about one listed token in a hundred has expired.
--
-- KEYS[1]  record of the token (hash)
-- KEYS[2]  all tokens (sorted set: id by creation time)
-- KEYS[3]  the tokens of the new token's owner (sorted set: id by creation time)
-- KEYS[4]  record of the owner (hash); unused if `isOwned` is false
-- KEYS[5]  record of the token with which the new token is made (hash); unused if `isMadeWithToken` is false
-- ARGV[1]  JSON:
--   id
--   createdAt    ms since 1970
--   isOwned      whether the new token belongs to a person
--   isMadeWithToken  whether the new token is made with another token
--   maxPerOwner  maximum of tokens of one owner
--   keptMs       milliseconds for which the record is kept
--   tokenPrefix  start of the names of records
--   fields       fields of the record
-- Returns 'created', 'no owner', 'no maker' or 'too many'.
local record, all, ofOwner, owner, maker = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if args.isOwned and redis.call('EXISTS', owner) == 0 then
  return 'no owner'
end
if args.isMadeWithToken and redis.call('EXISTS', maker) == 0 then
  return 'no maker'
end
local function removeExpired(ids)
  for _, id in ipairs(ids) do
    if redis.call('EXISTS', args.tokenPrefix .. id) == 0 then
      redis.call('ZREM', all, id)
      redis.call('ZREM', ofOwner, id)
    end
  end
end
removeExpired(redis.call('ZRANGE', ofOwner, 0, -1))
removeExpired(redis.call('ZRANDMEMBER', all, 100))
if redis.call('ZCARD', ofOwner) >= args.maxPerOwner then
  return 'too many'
end
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
redis.call('PEXPIRE', record, args.keptMs)
redis.call('ZADD', all, args.createdAt, args.id)
redis.call('ZADD', ofOwner, args.createdAt, args.id)
return 'created'
