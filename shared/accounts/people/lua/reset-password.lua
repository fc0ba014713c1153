-- Sets the password of the person whom a link was made for, ends all their sessions and admin tokens, and uses the link up.
--
-- KEYS[1]  the link (string: the user's id and epoch, as `id:epoch`)
-- KEYS[2]  record of the user (hash)
-- ARGV[1]  JSON:
--   userId
--   newHash  hash of the new password
-- Returns 1 when it was set, 0 when there is no such link any more, the user's epoch is another by now, or the person is blocked.
local link, user = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local epoch = redis.call('HGET', user, 'epoch')
if not epoch or redis.call('GET', link) ~= args.userId .. ':' .. epoch then
  return 0
end
if redis.call('HEXISTS', user, 'blockedAt') == 1 then
  return 0
end
redis.call('DEL', link)
redis.call('HSET', user, 'passwordHash', args.newHash, 'usedEmail', redis.call('HGET', user, 'email'))
redis.call('HINCRBY', user, 'epoch', 1)
redis.call('HINCRBY', user, 'tokenEpoch', 1)
return 1
