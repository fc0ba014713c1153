-- Returns a response and the responses that it continues.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   id
--   maxLinks       maximum of responses
--   maxBytes       maximum bytes of the responses together
--   reservedBytes  bytes for which the caller has reserved memory
-- Returns {'found', the sealed responses, newest first}, {'missing', id} for a response that is not stored, {'long'} if a maximum is
-- exceeded, or {'large', bytes} if the responses have more than `reservedBytes`.
local ids, bytes, id = {}, 0, args.id
while id do
  local entry, length = owned.readEntry(args.owner, id), readLength(args.owner, id)
  if not entry or length == 0 then
    return { 'missing', id }
  end
  bytes = bytes + length
  if #ids >= args.maxLinks or bytes > args.maxBytes then
    return { 'long' }
  end
  table.insert(ids, id)
  id = entry.previous
end
if bytes > args.reservedBytes then
  return { 'large', whole(bytes) }
end
local reply = { 'found' }
for _, each in ipairs(ids) do
  table.insert(reply, readContent(args.owner, each))
end
return reply
