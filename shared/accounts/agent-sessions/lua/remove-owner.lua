-- Removes sessions of an owner that no longer exists.
--
-- ARGV[1]  JSON:
--   base   start of the names of sessions
--   owner
--   days   the days that may have sums, such as `2026-11-21`
--   most   maximum of sessions to remove; bounded because Redis serves nobody else meanwhile
-- Returns how many sessions of the owner are left. `sessions.lua` stands before this script.
local args = cjson.decode(ARGV[1])
local own = args.base .. 'of:' .. args.owner
for _, id in ipairs(redis.call('ZRANGE', own, 0, args.most - 1)) do
  dropSession(args.base, args.owner, id)
end
for _, day in ipairs(args.days) do
  redis.call('DEL', args.base .. 'day:' .. args.owner .. ':' .. day)
end
return redis.call('ZCARD', own)
