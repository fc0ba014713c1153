-- Removes a thing that has content.
--
-- ARGV[1]  JSON, besides prefix:
--   owner, id
-- Returns 1, or 0 if there is no such thing, or it has expired.
owned.sweep()
local existed = redis.call('EXISTS', owned.contentOf(args.owner, args.id))
owned.forget(args.owner, args.id)
return existed
