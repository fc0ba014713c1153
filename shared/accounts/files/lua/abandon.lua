-- Ends an upload that does not become a file. Its object may be removed.
--
-- ARGV[1]  JSON, besides prefix:
--   object
--   isNoFile  whether it is known that no file has been made of it: one that counts as dead may have been stored after its removal
-- Returns 1, or 0 if there is no such upload: it may be a file.
if not endUpload(args.object) and not args.isNoFile then
  return 0
end
mayBeRemovedAt(args.object, now)
return 1
