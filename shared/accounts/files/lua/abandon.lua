-- Ends an upload that does not become a file, and lists its object for removal.
--
-- ARGV[1]  JSON, besides prefix:
--   object
--   isNoFile  whether it is certain that no file was made of it: an upload that counts as dead may have been stored after its removal
-- Returns 1, or 0 if there is no such upload: it may have become a file.
if not endUpload(args.object) and not args.isNoFile then
  return 0
end
mayBeRemovedAt(args.object, now)
return 1
