-- Returns a page of an owner's batches of an API. `pages.lua` is prepended to this script. `batches.lua` is not, because it is for scripts
-- that work on one batch.
--
-- ARGV[1]  JSON, besides `page` for `pages.read`:
--   prefix  start of all names
--   owner, api
-- Returns as `pages.read` does.
local args = cjson.decode(ARGV[1])
local ofOwner = args.api .. ':' .. args.owner
return pages.read(args.prefix .. 'batches-of:' .. ofOwner, args.prefix .. 'batch-places:' .. ofOwner, args)
