-- Cancels a batch, so that lines without a result are not run any more.
--
-- ARGV[1]  JSON: prefix and id
-- Returns 1, or 0 if the batch is over or unknown.
if not isOpen() then
  return 0
end
redis.call('HSETNX', record, 'cancelledAt', whole(now))
return 1
