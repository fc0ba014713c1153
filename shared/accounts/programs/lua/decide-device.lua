-- Approves or denies the sign-in of a program that waits for a person. The person's code is used up.
--
-- KEYS[1]  the code that the person entered (string: hash of the device's code)
-- ARGV[1]  JSON:
--   devicePrefix  of the names of sign-ins
--   fields        what is decided: `state`, and for an approval who approves
-- Returns 1, or 0 when it is over, or somebody has decided before.
local args = cjson.decode(ARGV[1])
local deviceHash = redis.call('GET', KEYS[1])
if not deviceHash then
  return 0
end
redis.call('DEL', KEYS[1])
local device = args.devicePrefix .. deviceHash
if redis.call('HGET', device, 'state') ~= 'pending' then
  return 0
end
for name, value in pairs(args.fields) do
  redis.call('HSET', device, name, value)
end
return 1
