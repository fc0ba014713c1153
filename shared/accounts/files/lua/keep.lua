-- Turns a complete upload into a file.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   object     object of the upload
--   id         id of the file
--   purpose
--   bytes      bytes of the file
--   expiresAt  ms since 1970; absent for a file that does not expire
-- ARGV[2]  the record, as JSON
-- Returns 1, or 0 if the upload counts as dead or its owner no longer exists.
if not canBecomeFile(args.owner, args.object) then
  return 0
end
keep(args.owner, args, ARGV[2])
return 1
