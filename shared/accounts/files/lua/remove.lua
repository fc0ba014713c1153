-- Removes the record of a file.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   id
-- Returns its object, which may be removed, or an empty text while it is held; false if the owner has no such file.
expire()
local record = forget(args.owner, args.id)
if not record then
  return false
end
return isHeld(record.object) and '' or record.object
