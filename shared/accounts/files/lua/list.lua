-- Returns a page of an owner's files. `pages.lua` is also prepended to this script.
--
-- ARGV[1]  JSON, besides prefix and `page` for `pages.read`:
--   owner
--   purpose  absent for files of any purpose
-- Returns as `pages.read` does, with records in place of ids.
owned.sweep()
local reply = pages.read(byAge(args.owner, args.purpose), placesOf(args.owner), args)
for at = 2, reply and #reply or 0 do
  reply[at] = redis.call('HGET', owned.nameOf('of', args.owner), reply[at]) or ''
end
return reply
