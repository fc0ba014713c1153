-- Removes the record of a file. Its place in the lists stays known for a while, see pages.lua, which is prepended to this script.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   id
-- Returns the file's object, which may be removed; an empty text while a batch holds the object; false if the owner has no such file.
owned.sweep()
local number = redis.call('ZSCORE', byAge(args.owner), args.id)
if number then
  pages.noteRemoved(placesOf(args.owner), args.id, number)
end
local record = owned.forget(args.owner, args.id)
if not record then
  return false
end
return isHeld(record.object) and '' or record.object
