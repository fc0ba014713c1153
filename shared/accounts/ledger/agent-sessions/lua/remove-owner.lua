-- Removes sessions of an owner that no longer exists. `sessions.lua` is prepended to this script.
--
-- ARGV[1]  JSON:
--   base   start of the names of sessions
--   owner
--   days   the days that may have sums, such as `2026-11-21`
--   max    maximum of sessions to remove; bounded because Redis serves nobody else meanwhile
-- Returns how many sessions of the owner are left.
local args = cjson.decode(ARGV[1])
local sessionsOfOwner = args.base .. 'of:' .. args.owner
for _, id in ipairs(redis.call('ZRANGE', sessionsOfOwner, 0, args.max - 1)) do
  dropSession(args.base, args.owner, id)
end
for _, day in ipairs(args.days) do
  redis.call('DEL', args.base .. 'day:' .. args.owner .. ':' .. day)
end
return redis.call('ZCARD', sessionsOfOwner)
