-- Returns, for each of several items, the newest response that contains it.
--
-- ARGV[1]  JSON, besides prefix and owner:
--   items     ids of the items
--   maxBytes  maximum bytes of the responses together
-- Returns {'found', positions, the sealed responses}, {'missing', id} for an item that is not stored, or {'long'} if the responses have
-- more than `maxBytes`. `positions` has, for each item, the position of its response among the sealed responses, from 0, separated by
-- commas.
local reply, positions, positionById, bytes = { 'found', '' }, {}, {}, 0

-- Returns the newest response that contains an item, with its content unless the content is in the reply already; nil if no response
-- contains the item.
local function findNewestWith(item)
  local holders = readHolders(args.owner, item)
  for index = #holders, 1, -1 do
    local id = holders[index]
    if positionById[id] then
      return id
    end
    local content = readContent(args.owner, id)
    if content then
      return id, content
    end
  end
end

for _, item in ipairs(args.items) do
  local id, content = findNewestWith(item)
  if not id then
    return { 'missing', item }
  end
  if content then
    bytes = bytes + #content
    if bytes > args.maxBytes then
      return { 'long' }
    end
    positionById[id] = #reply - 2
    table.insert(reply, content)
  end
  table.insert(positions, positionById[id])
end
reply[2] = table.concat(positions, ',')
return reply
