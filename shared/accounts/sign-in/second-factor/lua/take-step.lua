-- Uses up a code of an authenticator app. From then on, codes of the same step or an earlier step are refused.
--
-- KEYS[1]  the second factor of a person (hash)
-- ARGV[1]  JSON:
--   step  the time of the code, in steps of 30 seconds since 1970
-- Returns 1, or 0 if a code of this step or a later step was used before, or the person has no authenticator app.
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
