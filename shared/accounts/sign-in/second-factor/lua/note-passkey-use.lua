-- Stores the new state of a passkey after its use, unless the passkey was removed meanwhile.
--
-- KEYS[1]  the second factor of a person (hash)
-- ARGV[1]  JSON:
--   field    name of the passkey's field
--   passkey  new value of the field
-- Returns 1, or 0 if the passkey was removed.
local args = cjson.decode(ARGV[1])
if redis.call('HEXISTS', KEYS[1], args.field) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], args.field, args.passkey)
return 1
