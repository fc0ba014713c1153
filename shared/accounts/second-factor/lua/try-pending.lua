-- Takes a try of a sign-in that waits for its second step. After the last one it is over.
--
-- KEYS[1]  the sign-in (hash)
-- ARGV[1]  JSON:
--   most  tries
-- Returns {id of the person, epoch, challenge or '', what kind of link has let the person in or ''}, or {} when there is no such sign-in.
local userId, epoch, challenge, link = unpack(redis.call('HMGET', KEYS[1], 'userId', 'epoch', 'challenge', 'link'))
if not userId then
  return {}
end
if redis.call('HINCRBY', KEYS[1], 'tries', 1) >= cjson.decode(ARGV[1]).most then
  redis.call('DEL', KEYS[1])
end
return { userId, epoch, challenge or '', link or '' }
