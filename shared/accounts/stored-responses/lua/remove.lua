-- Removes a response.
--
-- ARGV[1]  JSON, besides prefix and owner:
--   id
-- Returns 1, or 0 if there is no such response.
sweep()
local existed = redis.call('EXISTS', nameOf('response', args.owner, args.id))
forget(args.owner, args.id)
return existed
