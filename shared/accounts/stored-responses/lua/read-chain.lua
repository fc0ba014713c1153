-- Returns a response and the responses that it continues.
--
-- ARGV[1]  JSON, besides prefix and owner:
--   id
--   maxLinks  maximum of responses
--   maxBytes  maximum bytes of the responses together
-- Returns {'found', the sealed responses, newest first}, {'missing', id} for a response that is not stored, or {'long'} if a maximum is
-- exceeded.
local reply, bytes, id = { 'found' }, 0, args.id
while id do
  local entry, content = readEntry(args.owner, id), readContent(args.owner, id)
  if not entry or not content then
    return { 'missing', id }
  end
  bytes = bytes + #content
  if #reply > args.maxLinks or bytes > args.maxBytes then
    return { 'long' }
  end
  table.insert(reply, content)
  id = entry.previous
end
return reply
