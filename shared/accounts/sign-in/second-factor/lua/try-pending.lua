-- Counts a try of a sign-in that waits for its second step. The last allowed try ends the sign-in.
--
-- KEYS[1]  the sign-in (hash)
-- ARGV[1]  JSON:
--   maxTries
-- Returns {id of the person, epoch, challenge or '', the kind of link that began the sign-in or ''}, or {} if there is no such sign-in.
local userId, epoch, challenge, link = unpack(redis.call('HMGET', KEYS[1], 'userId', 'epoch', 'challenge', 'link'))
if not userId then
  return {}
end
if redis.call('HINCRBY', KEYS[1], 'tries', 1) >= cjson.decode(ARGV[1]).maxTries then
  redis.call('DEL', KEYS[1])
end
return { userId, epoch, challenge or '', link or '' }
