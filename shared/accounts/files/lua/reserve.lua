-- Reserves room for a new upload, or more room for an upload that goes on. Two uploads never share room. The object of the upload
-- may be removed after `leaseMs` without a call.
--
-- ARGV[1]  JSON, besides prefix:
--   owner
--   object      object of the upload
--   bytes       bytes to reserve in addition; with 0, the call only shows that the upload goes on
--   begins      whether this is the upload's first call
--   kind        `file`: a file, to which the owner's bounds apply; `part`: results of a batch; `join`: a file that joins such parts
--   ownerBytes  maximum bytes of one owner
--   ownerFiles  maximum of files of one owner
--   totalBytes  maximum bytes of all owners. A `part` needs room twice: for itself and for the join. A `join` uses the room of its parts.
--   filesBytes  bytes for files. One owner may take at most half of what all others leave of them.
--   leaseMs     milliseconds without another call until the upload counts as dead
-- Returns 'reserved', or why nothing was reserved: 'owner' if the owner would have too many bytes; 'share' if the owner would have more
-- than half of what others leave; 'files' if the owner has too many files; 'total' if all owners together would have too many bytes;
-- 'gone' if the owner no longer exists; 'lapsed' if the upload counts as dead.
local owner, object = args.owner, args.object
owned.sweep()
if owned.isRefused(owner) then
  return 'gone'
end
local uploadOwner, reserved = uploadOf(object)
if args.begins == (uploadOwner ~= nil) then
  return 'lapsed'
end
if args.kind == 'file' then
  if args.begins and redis.call('HLEN', owned.nameOf('of', owner)) >= args.ownerFiles then
    return 'files'
  end
  if args.bytes > 0 and owned.readBytes(owner) + args.bytes > args.ownerBytes then
    return 'owner'
  end
  local left = args.filesBytes - joinBytes() - owned.readTotal() + owned.readBytes(owner)
  if args.bytes > 0 and owned.readBytes(owner) + args.bytes > left / 2 then
    return 'share'
  end
end
if args.bytes > 0 then
  local needed = owned.readTotal() + args.bytes
  if args.kind ~= 'join' then
    needed = needed + joinBytes()
  end
  if args.kind == 'part' then
    needed = needed + args.bytes
  end
  if needed > args.totalBytes then
    return 'total'
  end
  countKind(args.kind, owner, args.bytes)
end
redis.call('HSET', prefix .. 'file-uploads', object, owner .. ' ' .. whole((reserved or 0) + args.bytes) .. ' ' .. args.kind)
scheduleRemoval(object, now + args.leaseMs)
return 'reserved'
