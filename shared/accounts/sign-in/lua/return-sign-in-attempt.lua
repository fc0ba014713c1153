-- Subtracts a try to sign in from the counts of its subjects. A successful try also removes all tries of the first subject.
--
-- KEYS     tries of each subject (hash: count, countedUntil, strikes, until)
-- ARGV[1]  JSON:
--   succeeded  true after a successful try, false if the try could not be checked
if cjson.decode(ARGV[1]).succeeded then
  redis.call('DEL', KEYS[1])
end
for _, attempts in ipairs(KEYS) do
  if tonumber(redis.call('HGET', attempts, 'count') or 0) > 0 then
    redis.call('HINCRBY', attempts, 'count', -1)
  end
end
return 1
