-- Stores the places of removed entries of a list. A client that removes the entries of a page can then still request the page after them.
-- For each list, the places of the 500 to 1,000 entries that were removed last are stored, for an hour after the last removal. This file is
-- prepended to scripts that list or remove entries.
--
--   <list>          hash: id of each removed entry to its place
--   <list>:before   hash: the same for entries that were removed earlier
local removedPlaces = {}

local maxPlaces = 500
local placesKeptMs = 3600000

function removedPlaces.note(list, id, place)
  if redis.call('HLEN', list) >= maxPlaces then
    redis.call('RENAME', list, list .. ':before')
  end
  redis.call('HSET', list, id, place)
  for _, name in ipairs({ list, list .. ':before' }) do
    redis.call('PEXPIRE', name, placesKeptMs)
  end
end

-- Returns the place of a removed entry; nil if the place is not stored.
function removedPlaces.find(list, id)
  return redis.call('HGET', list, id) or redis.call('HGET', list .. ':before', id) or nil
end
