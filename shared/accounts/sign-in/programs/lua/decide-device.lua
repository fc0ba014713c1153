-- Approves or denies a sign-in of a program that waits for a person. Removes the person's code, and takes the sign-in off the lists of
-- waiting sign-ins.
--
-- KEYS[1]  the code that the person entered (string: hash of the device's code)
-- KEYS[2]  all sign-ins that wait (sorted set)
-- ARGV[1]  JSON:
--   fields  the decision: `state`, and for an approval the person and the team
--   devicePrefix, waitingFromPrefix  starts of names
-- Returns 1, or 0 when the sign-in is over, or was decided before.
local code, waiting = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local deviceHash = redis.call('GET', code)
if not deviceHash then
  return 0
end
redis.call('DEL', code)
local device = args.devicePrefix .. deviceHash
local state, from, site = unpack(redis.call('HMGET', device, 'state', 'from', 'site'))
if state ~= 'pending' then
  return 0
end
redis.call('ZREM', waiting, deviceHash)
for _, network in ipairs({ from or '', site or '' }) do
  redis.call('ZREM', args.waitingFromPrefix .. network, deviceHash)
end
for name, value in pairs(args.fields) do
  redis.call('HSET', device, name, value)
end
return 1
