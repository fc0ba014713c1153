-- Returns the newest responses that have items.
--
-- ARGV[1]  JSON, besides prefix and owner:
--   items      their ids
--   mostBytes  bytes of the responses
-- Returns {'found', the place of each item's response among the responses, from 0 on and separated by commas, the sealed responses},
-- {'missing', id} for an item that is not there, or {'long'}.
local contents, places, placeOf, bytes = {}, {}, {}, 0
for _, item in ipairs(args.items) do
  local id = redis.call('HGET', nameOf('items', args.owner), item)
  if id and not placeOf[id] then
    local content = contentOf(args.owner, id)
    if content then
      bytes = bytes + #content
      if bytes > args.mostBytes then
        return { 'long' }
      end
      placeOf[id] = #contents
      table.insert(contents, content)
    end
  end
  if not placeOf[id] then
    return { 'missing', item }
  end
  table.insert(places, placeOf[id])
end
return { 'found', table.concat(places, ','), unpack(contents) }
