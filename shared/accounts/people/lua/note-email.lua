-- Stores, for an existing person, the confirmed address, the address with which they last signed in, or both.
--
-- KEYS[1]  record of the user (hash)
-- ARGV[1]  JSON:
--   fields  `confirmedEmail`, `usedEmail` or both
-- Returns 1, or 0 when there is no such person.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
for name, value in pairs(cjson.decode(ARGV[1]).fields) do
  redis.call('HSET', KEYS[1], name, value)
end
return 1
