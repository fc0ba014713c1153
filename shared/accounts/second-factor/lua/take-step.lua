-- Uses up a code of an authenticator app: codes of the same or an earlier time no longer count.
--
-- KEYS[1]  the second factor of a person (hash)
-- ARGV[1]  JSON:
--   step  number of the code's 30 seconds since 1970
-- Returns 1, or 0 when the code was used before, or there is no authenticator app, or none any more.
if redis.call('HEXISTS', KEYS[1], 'totp') == 0 then
  return 0
end
local used = tonumber(redis.call('HGET', KEYS[1], 'usedStep') or '-1')
local args = cjson.decode(ARGV[1])
if args.step <= used then
  return 0
end
redis.call('HSET', KEYS[1], 'usedStep', args.step)
return 1
