-- Creates the account of a person who has not signed in yet.
--
-- KEYS[1]  addresses (hash: address to id)
-- KEYS[2]  record of the user (hash)
-- KEYS[3]  all users (sorted set: id by creation time)
-- KEYS[4]  the administrators who are not blocked (set of ids)
-- ARGV[1]  JSON:
--   userId, email, createdAt
--   isAdmin
--   fields   fields of the record
-- Returns 'created' or 'email taken'.
local emails, user, users, admins = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('HSETNX', emails, args.email, args.userId) == 0 then
  return 'email taken'
end
for name, value in pairs(args.fields) do
  redis.call('HSET', user, name, value)
end
redis.call('ZADD', users, args.createdAt, args.userId)
if args.isAdmin then
  redis.call('SADD', admins, args.userId)
end
return 'created'
