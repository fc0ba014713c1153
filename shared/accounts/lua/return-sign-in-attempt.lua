-- An attempt to sign in was right: the address gets it back, and the account's attempts are forgotten.
--
-- KEYS[1]  attempts from the address (hash: count, strikes, until)
-- KEYS[2]  attempts at the account (hash, the same)
if tonumber(redis.call('HGET', KEYS[1], 'count') or 0) > 0 then
  redis.call('HINCRBY', KEYS[1], 'count', -1)
end
redis.call('DEL', KEYS[2])
return 1
