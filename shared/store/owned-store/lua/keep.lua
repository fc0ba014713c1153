-- Stores a thing whose content is a hash. Removes an earlier thing of the same owner with the same id.
--
-- ARGV[1]  JSON, besides prefix: the options of `owned.makeRoom` and:
--   keepMs  milliseconds for which the thing is kept
--   fields  names of the fields of its content, besides `at`, the time at which it was stored
-- ARGV[2]  its entry, as JSON
-- ARGV[3], …  the fields, sealed, in the order of `fields`
-- Returns 1, 0 if the thing has more bytes than may be stored, or -1 if its owner no longer exists.
local owner, id, entry = args.owner, args.id, cjson.decode(ARGV[2])
local outcome = owned.admit(args, entry.bytes)
if outcome ~= 1 then
  return outcome
end
owned.makeRoom(args, entry.bytes)
local content = { 'at', whole(now) }
for at, field in ipairs(args.fields) do
  content[2 * at + 1], content[2 * at + 2] = field, ARGV[2 + at]
end
redis.call('HSET', owned.contentOf(owner, id), unpack(content))
owned.addMore(owner, id, entry)
owned.add(owner, id, ARGV[2], entry.bytes, now, now + args.keepMs)
return 1
