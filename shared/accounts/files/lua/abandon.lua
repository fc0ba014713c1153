-- Ends an upload that does not become a file, and lists its object for removal.
--
-- ARGV[1]  JSON, besides prefix:
--   object
--   isNoFile  whether the upload has certainly not become a file. The object is then listed even if the upload is unknown, because an
--             upload that counts as dead may have stored its object after the removal of the object.
-- Returns 1, or 0 if there is no such upload; it may have become a file.
if not endUpload(args.object) and not args.isNoFile then
  return 0
end
scheduleRemoval(args.object, now)
return 1
