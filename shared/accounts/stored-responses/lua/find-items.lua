-- Returns the newest responses that contain items.
--
-- ARGV[1]  JSON, besides prefix and owner:
--   items     ids of the items
--   maxBytes  maximum bytes of the responses together
-- Returns {'found', the position of each item's response among the responses, from 0 on and separated by commas, the sealed responses},
-- {'missing', id} for an item that is not stored, or {'long'} if the responses have more than `maxBytes`.
local reply, places, placeOf, bytes = { 'found', '' }, {}, {}, 0

-- Returns the newest response that contains an item, with its content unless the content is in the reply already; nil if no response
-- contains the item.
local function newestWith(item)
  local holders = holdersOf(args.owner, item)
  for at = #holders, 1, -1 do
    local id = holders[at]
    if placeOf[id] then
      return id
    end
    local content = contentOf(args.owner, id)
    if content then
      return id, content
    end
  end
end

for _, item in ipairs(args.items) do
  local id, content = newestWith(item)
  if not id then
    return { 'missing', item }
  end
  if content then
    bytes = bytes + #content
    if bytes > args.maxBytes then
      return { 'long' }
    end
    placeOf[id] = #reply - 2
    table.insert(reply, content)
  end
  table.insert(places, placeOf[id])
end
reply[2] = table.concat(places, ',')
return reply
