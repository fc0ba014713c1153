-- Cancels all unfinished batches of an owner. `script-start.lua` is prepended to this script.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   key    if present, cancels only the batches that were created with this key
-- Returns how many batches of the owner are not closed yet.
local ids = redis.call('ZRANGE', prefix .. 'batches-open-of:' .. args.owner, 0, -1)
for _, id in ipairs(ids) do
  local record = prefix .. 'batch:' .. id
  local state = redis.call('HGET', record, 'state')
  local isSelected = not args.key or redis.call('HGET', record, 'key') == args.key
  if isSelected and state and state ~= 'ended' and state ~= 'failed' then
    redis.call('HSETNX', record, 'cancelledAt', whole(now))
  end
end
return #ids
