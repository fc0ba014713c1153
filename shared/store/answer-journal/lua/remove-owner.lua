-- Removes the answers of an owner that no longer exists, without ending them.
--
-- ARGV[1]  JSON, besides prefix, kind and owner (`id` is empty):
--   max  maximum of answers to remove; bounded because Redis serves nobody else meanwhile
-- Returns how many answers of the owner are left.
local bytesById = names .. 'bytes-of:' .. owner
for _, answerId in ipairs(redis.call('HRANDFIELD', bytesById, args.max)) do
  forget(owner, answerId)
  redis.call('PUBLISH', prefix .. 'background-changes:' .. nameOf(owner, answerId), 'over')
end
return redis.call('HLEN', bytesById)
