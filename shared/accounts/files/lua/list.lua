-- Returns a page of an owner's files.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   purpose      absent for files of any purpose
--   newestFirst  whether the newest file comes first
--   after        id of the file after which the page begins; may be absent
--   before       id of the file before which the page ends; may be absent
--   limit        maximum of files on the page
-- `after` and `before` may be files that were removed lately, see removed-places.lua, which is also prepended to this script.
-- Returns {1 if more files follow in the requested direction else 0, the records}; false if `after` or `before` is not a file of the owner.
owned.sweep()
local name = byAge(args.owner, args.purpose)
local rankCommand = args.newestFirst and 'ZREVRANK' or 'ZRANK'
local rangeCommand = args.newestFirst and 'ZREVRANGE' or 'ZRANGE'
-- Returns the rank of a file and the rank of the next file. For a removed file, both are the rank of the next file.
local function findRanks(id)
  local rank = redis.call(rankCommand, name, id)
  if rank then
    return rank, rank + 1
  end
  local place = removedPlaces.find(placesOf(args.owner), id)
  if not place then
    return nil
  end
  redis.call('ZADD', name, place, id)
  rank = redis.call(rankCommand, name, id)
  redis.call('ZREM', name, id)
  return rank, rank
end
local first, last = 0, args.limit - 1
if args.after or args.before then
  local rank, nextRank = findRanks(args.after or args.before)
  if not rank then
    return false
  end
  if args.after then
    first, last = nextRank, nextRank + args.limit - 1
  else
    first, last = math.max(0, rank - args.limit), rank - 1
  end
end
local hasMore = args.before and first > 0 or not args.before and redis.call('ZCARD', name) > last + 1
local reply = { hasMore and 1 or 0 }
if last >= first then
  for _, id in ipairs(redis.call(rangeCommand, name, first, last)) do
    table.insert(reply, redis.call('HGET', owned.nameOf('of', args.owner), id) or '')
  end
end
return reply
