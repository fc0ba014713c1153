-- Gives an attempt to sign in back to its address and its account. After a successful one, all attempts at the account are forgotten
-- as well.
--
-- KEYS[1]  attempts from the address (hash: count, strikes, until)
-- KEYS[2]  attempts at the account (hash, the same)
-- ARGV[1]  JSON:
--   succeeded  true, or false for an attempt that could not be judged
if cjson.decode(ARGV[1]).succeeded then
  redis.call('DEL', KEYS[2])
end
for _, attempts in ipairs(KEYS) do
  if tonumber(redis.call('HGET', attempts, 'count') or 0) > 0 then
    redis.call('HINCRBY', attempts, 'count', -1)
  end
end
return 1
