-- Removes a second factor. Removing the last factor also removes the recovery codes.
--
-- KEYS[1]  the second factor of a person (hash)
-- ARGV[1]  JSON:
--   factor  name of the factor's field
-- Returns 1, or 0 if there is no such factor.
local removed = redis.call('HDEL', KEYS[1], cjson.decode(ARGV[1]).factor)
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if field == 'totp' or string.sub(field, 1, 8) == 'passkey:' then
    return removed
  end
end
redis.call('DEL', KEYS[1])
return removed
