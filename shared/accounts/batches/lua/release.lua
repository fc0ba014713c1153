-- Releases some of the objects that a batch holds, if the batch is over or unknown. `files.lua` stands before this script, too.
--
-- ARGV[1]  JSON, besides prefix and id:
--   most  maximum of objects
-- Returns how many objects the batch still holds, and then the objects that may be removed.
if isOpen() then
  return { 0 }
end
local reply = { 0 }
for _, kind in ipairs({ 'held', 'objects' }) do
  for _, object in ipairs(redis.call('SPOP', nameOf(kind), args.most)) do
    if release(object) then
      table.insert(reply, object)
    end
  end
  reply[1] = reply[1] + redis.call('SCARD', nameOf(kind))
end
return reply
