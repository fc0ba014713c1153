-- Removes the records of the files of an owner that no longer exists, oldest first. From then on, unfinished uploads cannot become files.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   maxFiles      maximum of files to remove; bounded because Redis serves nobody else meanwhile
--   refusedForMs  milliseconds for which further files are refused
-- Returns how many files of the owner are left.
redis.call('SET', prefix .. 'files-refused:' .. args.owner, '1', 'PX', whole(args.refusedForMs))
for _, id in ipairs(redis.call('ZRANGE', byAge(args.owner), 0, args.maxFiles - 1)) do
  forget(args.owner, id)
end
return redis.call('ZCARD', byAge(args.owner))
