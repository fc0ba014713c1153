-- Reads pages of lists whose entries may be removed. A client that removes the entries of a page can still request the page after them,
-- because the places of removed entries are stored: for each list, those of the 500 to 1,000 entries that were removed last, for an hour
-- after the last removal. This file is prepended to scripts that list or remove entries.
--
--   <places>          hash: id of each removed entry to its place, which is its score in the list
--   <places>:before   hash: the same for entries that were removed earlier
local pages = {}

local maxPlaces = 500
local placesKeptMs = 3600000

-- Stores the place of an entry that is removed.
function pages.noteRemoved(places, id, place)
  if redis.call('HLEN', places) >= maxPlaces then
    redis.call('RENAME', places, places .. ':before')
  end
  redis.call('HSET', places, id, place)
  for _, name in ipairs({ places, places .. ':before' }) do
    redis.call('PEXPIRE', name, placesKeptMs)
  end
end

-- Reads a page of a list, which is a sorted set.
--
--   page  limit (maximum of entries); optionally newestFirst (whether the highest score comes first), after (id of the entry after which
--         the page begins), and before (id of the entry before which the page ends; without effect if there is `after`)
-- Returns {1 if more entries follow in the requested direction else 0, the ids}; false if `after` or `before` is no entry of the list.
function pages.read(list, places, page)
  local rankCommand = page.newestFirst and 'ZREVRANK' or 'ZRANK'
  -- Returns the rank of an entry and the rank of the next one. For a removed entry, both are the rank of the next one.
  local function findRanks(id)
    local rank = redis.call(rankCommand, list, id)
    if rank then
      return rank, rank + 1
    end
    local place = redis.call('HGET', places, id) or redis.call('HGET', places .. ':before', id)
    if not place then
      return nil
    end
    redis.call('ZADD', list, place, id)
    rank = redis.call(rankCommand, list, id)
    redis.call('ZREM', list, id)
    return rank, rank
  end
  local first, last = 0, page.limit - 1
  if page.after or page.before then
    local rank, nextRank = findRanks(page.after or page.before)
    if not rank then
      return false
    end
    if page.after then
      first, last = nextRank, nextRank + page.limit - 1
    else
      first, last = math.max(0, rank - page.limit), rank - 1
    end
  end
  local isBackward = page.before and not page.after
  local hasMore = isBackward and first > 0 or not isBackward and redis.call('ZCARD', list) > last + 1
  local reply = { hasMore and 1 or 0 }
  if last >= first then
    for _, id in ipairs(redis.call(page.newestFirst and 'ZREVRANGE' or 'ZRANGE', list, first, last)) do
      table.insert(reply, id)
    end
  end
  return reply
end
