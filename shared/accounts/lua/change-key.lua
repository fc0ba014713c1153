-- Changes fields of a key that is neither revoked nor replaced: one that is on its way out must not come back.
--
-- KEYS[1]  record of the key (hash)
-- ARGV[1]  how many of the next arguments name fields that go
-- ARGV[2…] names of these fields; then fields that are set: name, value, name, value, …
-- Returns 'changed', 'over' or 'unknown'.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'unknown'
end
if redis.call('HEXISTS', KEYS[1], 'revokedAt') == 1 or redis.call('HEXISTS', KEYS[1], 'replacedBy') == 1 then
  return 'over'
end
local going = tonumber(ARGV[1])
for at = 2, going + 1 do
  redis.call('HDEL', KEYS[1], ARGV[at])
end
if #ARGV > going + 1 then
  redis.call('HSET', KEYS[1], unpack(ARGV, going + 2))
end
return 'changed'
