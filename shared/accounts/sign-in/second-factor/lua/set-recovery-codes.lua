-- Sets the recovery codes of a person, in place of all earlier codes. A person without a second factor gets none, because a recovery code
-- stands in for a second factor.
--
-- KEYS[1]  the second factor of a person (hash)
-- ARGV[1]  JSON:
--   fields  names of the codes' fields
-- Returns 1, or 0 when the person has no second factor.
local hasFactor = false
local oldCodes = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if field == 'totp' or string.sub(field, 1, 8) == 'passkey:' then
    hasFactor = true
  elseif string.sub(field, 1, 9) == 'recovery:' then
    oldCodes[#oldCodes + 1] = field
  end
end
if not hasFactor then
  return 0
end
if #oldCodes > 0 then
  redis.call('HDEL', KEYS[1], unpack(oldCodes))
end
for _, field in ipairs(cjson.decode(ARGV[1]).fields) do
  redis.call('HSET', KEYS[1], field, '1')
end
return 1
