-- Stores a new batch, unless its owner has too many unfinished batches. Of more batches than an owner may keep, the oldest that are over
-- are removed.
--
-- ARGV[1]  JSON, besides prefix and id:
--   fields     of the record
--   owner, api, createdAt, expiresAt  the same as in `fields`
--   maxOpen    maximum of unfinished batches of an owner
--   keepMs     milliseconds for which a batch is kept after it has expired
--   maxKept    maximum of batches of an owner and API, besides unfinished ones
-- Returns 1, or 0 if the owner has too many unfinished batches.
local openOf = prefix .. 'batches-open-of:' .. args.owner
if redis.call('EXISTS', record) == 1 then
  return 1
end
-- Removes batches whose records have expired by now because no runner brought them to their end.
redis.call('ZREMRANGEBYSCORE', openOf, '-inf', whole(now - args.keepMs))
if redis.call('ZCARD', openOf) >= args.maxOpen then
  return 0
end
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
local of = prefix .. 'batches-of:' .. args.api .. ':' .. args.owner
local goneAt = args.expiresAt + args.keepMs
redis.call('PEXPIREAT', record, whole(goneAt))
-- Batches of an owner may be kept for different times, so their ages do not tell which records have expired.
for _, id in ipairs(redis.call('ZRANGE', of, 0, 99)) do
  if redis.call('EXISTS', prefix .. 'batch:' .. id) == 0 then
    redis.call('ZREM', of, id)
  end
end
local surplus = redis.call('ZCARD', of) + 1 - args.maxKept
for _, id in ipairs(surplus > 0 and redis.call('ZRANGE', of, 0, 99) or {}) do
  local state = redis.call('HGET', prefix .. 'batch:' .. id, 'state')
  if surplus > 0 and (state == 'ended' or state == 'failed') then
    redis.call('ZREM', of, id)
    redis.call('ZREM', openOf, id)
    redis.call('DEL', prefix .. 'batch:' .. id, prefix .. 'batch-errors:' .. id)
    surplus = surplus - 1
  end
end
redis.call('ZADD', of, whole(args.createdAt), args.id)
if redis.call('PTTL', of) < goneAt - now then
  redis.call('PEXPIREAT', of, whole(goneAt))
end
redis.call('ZADD', openOf, whole(args.expiresAt), args.id)
redis.call('ZADD', prefix .. 'batches-open', whole(args.expiresAt), args.id)
return 1
