-- Gives an attempt to sign in back to the allowances that it was taken from. After a successful one, all attempts of the first subject are
-- forgotten as well.
--
-- KEYS     attempts of each subject (hash: count, strikes, until)
-- ARGV[1]  JSON:
--   succeeded  true, or false for an attempt that could not be judged
if cjson.decode(ARGV[1]).succeeded then
  redis.call('DEL', KEYS[1])
end
for _, attempts in ipairs(KEYS) do
  if tonumber(redis.call('HGET', attempts, 'count') or 0) > 0 then
    redis.call('HINCRBY', attempts, 'count', -1)
  end
end
return 1
