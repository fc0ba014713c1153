-- The places that removed entries of a list had, so that a client that removes entries page by page can go on behind them. Each list
-- remembers between 500 and 1,000 of the entries that were removed last, for an hour after the last removal. This file stands before
-- scripts that list or remove entries.
--
--   <list>          hash: id of each removed entry to its place
--   <list>:before   hash: the same, of entries that were removed before those
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

-- Returns the place that a removed entry had; nil if it is not remembered.
function removedPlaces.find(list, id)
  return redis.call('HGET', list, id) or redis.call('HGET', list .. ':before', id) or nil
end
