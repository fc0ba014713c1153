-- Stores the positions of some slices of a batch in its input. They are kept as long as the record of the batch.
--
-- ARGV[1]  JSON, besides prefix and id:
--   first  number of the first slice
-- ARGV[2…]  JSON of each slice, in order
-- Returns 1. Returns 0 if the batch is unknown, or no longer `validating`, so that runners may already work on its slices.
if field('state') ~= 'validating' then
  return 0
end
local slices = nameOf('slices')
for at = 2, #ARGV do
  redis.call('HSET', slices, whole(args.first + at - 2), ARGV[at])
end
keepWithRecord(slices)
return 1
