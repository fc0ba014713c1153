-- Creates the first administrator, and removes the link that permits it.
--
-- KEYS[1]  the link (string: hash of its token)
-- KEYS[2]  the administrators who are not blocked (set of ids)
-- KEYS[3]  addresses (hash: address to id)
-- KEYS[4]  record of the new user (hash)
-- KEYS[5]  index of all users (sorted set: id by creation time)
-- ARGV[1]  JSON:
--   tokenHash  hash of the link's token
--   userId
--   email
--   createdAt  ms since 1970
--   fields     fields of the new user's record
-- Returns 'created', 'no link', or 'email taken', which leaves the link as it is.
local link, admins, emails, user, users = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('GET', link) ~= args.tokenHash or redis.call('SCARD', admins) > 0 then
  return 'no link'
end
if redis.call('HSETNX', emails, args.email, args.userId) == 0 then
  return 'email taken'
end
redis.call('DEL', link)
for name, value in pairs(args.fields) do
  redis.call('HSET', user, name, value)
end
redis.call('ZADD', users, args.createdAt, args.userId)
redis.call('SADD', admins, args.userId)
return 'created'
