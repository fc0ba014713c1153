-- Stores a new batch, unless its owner has too many unfinished batches. If the owner then has more batches than are kept, removes the
-- oldest of them that are over.
--
-- ARGV[1]  JSON, besides prefix and id:
--   fields     of the record
--   owner, api, createdAt, expiresAt  the same as in `fields`
--   maxOpen    maximum number of unfinished batches of an owner
--   keepMs     milliseconds for which a batch is kept after it has expired
--   maxKept    maximum number of batches of an owner and API, besides unfinished ones
-- Returns 1, or 0 if the owner has too many unfinished batches.
local openOf = prefix .. 'batches-open-of:' .. args.owner
if redis.call('EXISTS', record) == 1 then
  return 1
end
-- Removes batches whose records have expired because no runner has ended them.
redis.call('ZREMRANGEBYSCORE', openOf, '-inf', whole(now - args.keepMs))
if redis.call('ZCARD', openOf) >= args.maxOpen then
  return 0
end
for name, value in pairs(args.fields) do
  redis.call('HSET', record, name, value)
end
local ofOwner = prefix .. 'batches-of:' .. args.api .. ':' .. args.owner
local recordExpiresAt = args.expiresAt + args.keepMs
redis.call('PEXPIREAT', record, whole(recordExpiresAt))
-- The batches of an owner may have been kept for different times, so their age does not show which records have expired.
for _, id in ipairs(redis.call('ZRANGE', ofOwner, 0, 99)) do
  if redis.call('EXISTS', prefix .. 'batch:' .. id) == 0 then
    redis.call('ZREM', ofOwner, id)
  end
end
local surplus = redis.call('ZCARD', ofOwner) + 1 - args.maxKept
for _, id in ipairs(surplus > 0 and redis.call('ZRANGE', ofOwner, 0, 99) or {}) do
  local state = redis.call('HGET', prefix .. 'batch:' .. id, 'state')
  if surplus > 0 and (state == 'ended' or state == 'failed') then
    redis.call('ZREM', ofOwner, id)
    redis.call('ZREM', openOf, id)
    redis.call('DEL', prefix .. 'batch:' .. id, prefix .. 'batch-errors:' .. id)
    surplus = surplus - 1
  end
end
redis.call('ZADD', ofOwner, whole(args.createdAt), args.id)
if redis.call('PTTL', ofOwner) < recordExpiresAt - now then
  redis.call('PEXPIREAT', ofOwner, whole(recordExpiresAt))
end
redis.call('ZADD', openOf, whole(args.expiresAt), args.id)
redis.call('ZADD', prefix .. 'batches-open', whole(args.expiresAt), args.id)
return 1
