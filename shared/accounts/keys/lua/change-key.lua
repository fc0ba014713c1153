-- Changes fields of a key. Refuses to change a key that is revoked or replaced, because it must not become valid again.
--
-- KEYS[1]  record of the key (hash)
-- ARGV[1]  JSON:
--   ifRevision  the revision that the key must have; absent to change the key at any revision
--   removed     names of fields to remove
--   fields      fields to set
-- Returns 'changed'; 'over' when the key is revoked or replaced; 'unknown'; or 'stale' when the key has another revision.
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'unknown'
end
if redis.call('HEXISTS', KEYS[1], 'revokedAt') == 1 or redis.call('HEXISTS', KEYS[1], 'replacedBy') == 1 then
  return 'over'
end
if args.ifRevision and tonumber(redis.call('HGET', KEYS[1], 'revision') or '0') ~= args.ifRevision then
  return 'stale'
end
for _, name in ipairs(args.removed) do
  redis.call('HDEL', KEYS[1], name)
end
for name, value in pairs(args.fields) do
  redis.call('HSET', KEYS[1], name, value)
end
redis.call('HINCRBY', KEYS[1], 'revision', 1)
return 'changed'
