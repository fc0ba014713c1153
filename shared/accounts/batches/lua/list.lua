-- Returns a page of an owner's batches of an API, newest first. `removed-places.lua` is prepended to this script. `batches.lua` is not,
-- because it is for scripts that work on one batch.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
--   owner, api
--   after   id of the batch after which the page begins; may be absent
--   before  id of the batch before which the page ends; may be absent, and has no effect if there is `after`
--   limit   maximum number of batches on the page
-- `after` and `before` may be batches that were removed lately.
-- Returns {1 if more batches follow in the requested direction else 0, the ids}; false if `after` or `before` is no batch of the owner.
local args = cjson.decode(ARGV[1])
local name = args.prefix .. 'batches-of:' .. args.api .. ':' .. args.owner
-- Returns the rank of a batch, and the rank of the next batch. For a removed batch, both are the rank of the next batch.
local function ranksOf(id)
  local rank = redis.call('ZREVRANK', name, id)
  if rank then
    return rank, rank + 1
  end
  local place = removedPlaces.find(args.prefix .. 'batch-places:' .. args.api .. ':' .. args.owner, id)
  if not place then
    return nil
  end
  redis.call('ZADD', name, place, id)
  rank = redis.call('ZREVRANK', name, id)
  redis.call('ZREM', name, id)
  return rank, rank
end
local first, last = 0, args.limit - 1
if args.after or args.before then
  local rank, nextRank = ranksOf(args.after or args.before)
  if not rank then
    return false
  end
  if args.after then
    first, last = nextRank, nextRank + args.limit - 1
  else
    first, last = math.max(0, rank - args.limit), rank - 1
  end
end
local isBackward = args.before and not args.after
local more = isBackward and first > 0 or not isBackward and redis.call('ZCARD', name) > last + 1
local reply = { more and 1 or 0 }
if last >= first then
  for _, id in ipairs(redis.call('ZREVRANGE', name, first, last)) do
    table.insert(reply, id)
  end
end
return reply
