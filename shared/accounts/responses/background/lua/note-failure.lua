-- Counts a run that ended with an error towards the maximum number of runs, unless the response is over or unknown.
--
-- ARGV[1]  JSON: prefix, kind, owner and id
-- Returns how many such runs the response has had; 0 if the response is over or unknown.
if not isOpen() then
  return 0
end
return redis.call('HINCRBY', record, 'failures', 1)
