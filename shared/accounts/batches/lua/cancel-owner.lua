-- Cancels all unfinished batches of an owner. `batches.lua` is not prepended to this script, because it is for scripts that work on one
-- batch.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
--   owner
--   key     if present, cancels only the batches that were created with this key
-- Returns how many batches of the owner are not closed yet.
local args = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local ids = redis.call('ZRANGE', args.prefix .. 'batches-open-of:' .. args.owner, 0, -1)
for _, id in ipairs(ids) do
  local record = args.prefix .. 'batch:' .. id
  local state = redis.call('HGET', record, 'state')
  local isSelected = not args.key or redis.call('HGET', record, 'key') == args.key
  if isSelected and state and state ~= 'ended' and state ~= 'failed' then
    redis.call('HSETNX', record, 'cancelledAt', now)
  end
end
return #ids
