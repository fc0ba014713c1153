-- Begins the sign-in of a program on a device. The number of sign-ins that wait for a person is bounded: in total, for each address, and for
-- each site, which may have half of what the others leave.
--
-- KEYS[1]  the sign-in (hash)
-- KEYS[2]  the code that the person enters (string: hash of the device's code)
-- KEYS[3]  all sign-ins that wait (sorted set: hash of the device's code by expiry)
-- KEYS[4]  the waiting sign-ins from this address (sorted set like KEYS[3])
-- KEYS[5]  the waiting sign-ins from this site (sorted set like KEYS[3]); the name of KEYS[4] if the site has one address
-- ARGV[1]  JSON:
--   deviceHash      hash of the device's code
--   now             ms since 1970
--   liveMs          milliseconds for which the sign-in can be approved
--   maxWaiting      maximum of waiting sign-ins
--   maxPerAddress   maximum of waiting sign-ins from one address
--   fields          fields of the sign-in
-- Returns {'begun'}, {'taken'} when the person's code is in use, or {'too many', milliseconds until a waiting sign-in expires}.
local device, code, waiting, fromAddress, fromSite = unpack(KEYS)
local args = cjson.decode(ARGV[1])
local waitMs = 0

local function countWaiting(set)
  redis.call('ZREMRANGEBYSCORE', set, '-inf', args.now)
  return redis.call('ZCARD', set)
end

-- Notes how long it takes until a set has fewer than `max` sign-ins.
local function awaitRoom(set, count, max)
  local over = count - max
  if over >= 0 then
    local _, expiry = unpack(redis.call('ZRANGE', set, over, over, 'WITHSCORES'))
    waitMs = math.max(waitMs, tonumber(expiry) - args.now)
  end
end

local count, ofSite = countWaiting(waiting), countWaiting(fromSite)
awaitRoom(waiting, count, args.maxWaiting)
awaitRoom(fromAddress, countWaiting(fromAddress), args.maxPerAddress)
awaitRoom(fromSite, ofSite, math.max(1, math.ceil((args.maxWaiting - (count - ofSite)) / 2)))
if waitMs > 0 then
  return { 'too many', waitMs }
end
if not redis.call('SET', code, args.deviceHash, 'NX', 'PX', args.liveMs) then
  return { 'taken' }
end
for name, value in pairs(args.fields) do
  redis.call('HSET', device, name, value)
end
redis.call('PEXPIRE', device, args.liveMs)
redis.call('ZADD', waiting, args.now + args.liveMs, args.deviceHash)
for _, set in ipairs({ fromAddress, fromSite }) do
  redis.call('ZADD', set, args.now + args.liveMs, args.deviceHash)
  redis.call('PEXPIRE', set, args.liveMs)
end
return { 'begun' }
