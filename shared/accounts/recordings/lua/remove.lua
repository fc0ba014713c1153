-- Removes a recording.
--
-- ARGV[1]  JSON, besides prefix:
--   owner, id  see recordings.lua
-- Returns 1, or 0 if there is no such recording.
local existed = redis.call('EXISTS', recordName(args.owner, args.id))
forget(args.owner, args.id)
return existed
