-- Approves or denies the sign-in of a program that waits for a person. The person's code is used up, and the sign-in does not count as one
-- that waits any more.
--
-- KEYS[1]  the code that the person entered (string: hash of the device's code)
-- KEYS[2]  all sign-ins that wait (sorted set)
-- ARGV[1]  JSON:
--   fields  what is decided: `state`, and for an approval who approves
--   devicePrefix, waitingFromPrefix  of names
-- Returns 1, or 0 when it is over, or somebody has decided before.
local code, waiting = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local deviceHash = redis.call('GET', code)
if not deviceHash then
  return 0
end
redis.call('DEL', code)
local device = args.devicePrefix .. deviceHash
local state, from = unpack(redis.call('HMGET', device, 'state', 'from'))
if state ~= 'pending' then
  return 0
end
redis.call('ZREM', waiting, deviceHash)
if from then
  redis.call('ZREM', args.waitingFromPrefix .. from, deviceHash)
end
for name, value in pairs(args.fields) do
  redis.call('HSET', device, name, value)
end
return 1
