-- Returns, for each of several items, the newest response that contains it.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   items          ids of the items
--   maxBytes       maximum bytes of the responses together
--   reservedBytes  bytes for which the caller has reserved memory
-- Returns {'found', positions, the sealed responses}, {'missing', id} for an item that is not stored, {'long'} if the responses have more
-- than `maxBytes`, or {'large', bytes} if they have more than `reservedBytes`. `positions` has, for each item, the position of its response
-- among the sealed responses, from 0, separated by commas.
local ids, positions, positionById, bytes = {}, {}, {}, 0

-- Returns the newest response that contains an item, and the bytes of its content unless it was found before; nil if no response contains
-- the item.
local function findNewestWith(item)
  local holders = readHolders(args.owner, item)
  for index = #holders, 1, -1 do
    local id = holders[index]
    if positionById[id] then
      return id, 0
    end
    local length = readLength(args.owner, id)
    if length > 0 then
      return id, length
    end
  end
end

for _, item in ipairs(args.items) do
  local id, length = findNewestWith(item)
  if not id then
    return { 'missing', item }
  end
  if not positionById[id] then
    bytes = bytes + length
    if bytes > args.maxBytes then
      return { 'long' }
    end
    positionById[id] = #ids
    table.insert(ids, id)
  end
  table.insert(positions, positionById[id])
end
if bytes > args.reservedBytes then
  return { 'large', whole(bytes) }
end
local reply = { 'found', table.concat(positions, ',') }
for _, id in ipairs(ids) do
  table.insert(reply, readContent(args.owner, id))
end
return reply
