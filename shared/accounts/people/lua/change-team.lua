-- Changes fields of a team.
--
-- KEYS[1]  record of the team (hash)
-- ARGV[1]  JSON:
--   ifRevision  the revision that the record must have; absent to change the record at any revision
--   fields      fields to set
-- Returns 'changed', 'stale' when the team is at another revision, or 'unknown'.
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'unknown'
end
if args.ifRevision and tonumber(redis.call('HGET', KEYS[1], 'revision') or '0') ~= args.ifRevision then
  return 'stale'
end
for name, value in pairs(args.fields) do
  redis.call('HSET', KEYS[1], name, value)
end
redis.call('HINCRBY', KEYS[1], 'revision', 1)
return 'changed'
