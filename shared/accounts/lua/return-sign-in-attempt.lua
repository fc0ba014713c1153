-- An attempt to sign in was right, or could not be judged: the address gets it back. With a right one all attempts at the account
-- are forgotten; one that could not be judged is given back to the account, too.
--
-- KEYS[1]  attempts from the address (hash: count, strikes, until)
-- KEYS[2]  attempts at the account (hash, the same)
-- ARGV[1]  '1' when it was right
local subjects = { KEYS[1], KEYS[2] }
if ARGV[1] == '1' then
  redis.call('DEL', KEYS[2])
end
for _, name in ipairs(subjects) do
  if tonumber(redis.call('HGET', name, 'count') or 0) > 0 then
    redis.call('HINCRBY', name, 'count', -1)
  end
end
return 1
