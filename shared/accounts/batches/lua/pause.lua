-- Stores that lines of a batch wait, or that they no longer wait.
--
-- ARGV[1]  JSON, besides prefix and id:
--   pause  { pausedUntil, pausedFor, blockedUntil, lacksWorker } of the record; absent if no lines wait
-- Returns 1, or 0 if the batch is over or unknown.
if not isOpen() then
  return 0
end
redis.call('HDEL', record, 'pausedUntil', 'pausedFor', 'blockedUntil', 'lacksWorker')
for name, value in pairs(args.pause or {}) do
  redis.call('HSET', record, name, value)
end
return 1
