-- Removes the record of a file.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   id
-- Returns its object, which may be removed; false if the owner has no such file.
expire()
local record = forget(args.owner, args.id, now)
return record and record.object or false
