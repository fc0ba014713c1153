-- Removes the records of the files of an owner that no longer exists, oldest first, and refuses the files of uploads that still run.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   most          maximum of files to remove; bounded because Redis serves nobody else meanwhile
--   refusedForMs  milliseconds for which further files are refused
-- Returns how many files of the owner are left.
redis.call('SET', prefix .. 'files-refused:' .. args.owner, '1', 'PX', whole(args.refusedForMs))
for _, id in ipairs(redis.call('ZRANGE', byAge(args.owner), 0, args.most - 1)) do
  forget(args.owner, id)
end
return redis.call('ZCARD', byAge(args.owner))
