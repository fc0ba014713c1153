-- Sets the password of the person for whom a link was made. Ends all their sign-in sessions and admin tokens, and the refusal by a
-- provider. Removes the link.
--
-- KEYS[1]  the link (string: the user's `id:epoch`, or `id:epoch:first` for a person who has never used the account)
-- KEYS[2]  record of the user (hash)
-- KEYS[3]  the user's account at a provider (hash)
-- ARGV[1]  JSON:
--   userId
--   newHash  hash of the new password
-- Returns 1 when the password was set. Returns 0 when the link does not exist any more, the user has another epoch, or the person is
-- blocked. Returns 0 also when the link is only for a person who has never used the account, but this person has used it.
local link, user, external = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local epoch, usedEmail, email = unpack(redis.call('HMGET', user, 'epoch', 'usedEmail', 'email'))
if not epoch then
  return 0
end
local usable = args.userId .. ':' .. epoch
local found = redis.call('GET', link)
if found == usable .. ':first' then
  if usedEmail or redis.call('EXISTS', external) == 1 then
    return 0
  end
elseif found ~= usable then
  return 0
end
if redis.call('HEXISTS', user, 'blockedAt') == 1 then
  return 0
end
redis.call('DEL', link)
redis.call('HSET', user, 'passwordHash', args.newHash, 'usedEmail', email)
redis.call('HDEL', user, 'refusedAt')
redis.call('HINCRBY', user, 'epoch', 1)
redis.call('HINCRBY', user, 'tokenEpoch', 1)
return 1
