-- The names of files, besides those of owned.lua, and the functions that their scripts share. The ids of files, and the names of objects,
-- have no spaces.
--
--   <prefix>files-of:<owner>                the entries: see FileRecord
--   <prefix>files-by-age:<owner>            the ids in the order in which the files were added
--   <prefix>files-by-age:<owner>:<purpose>  sorted set: ids of the files with one purpose, in the same order
--   <prefix>file-places:<owner>             see pages.lua: ids of removed files, and the numbers that they had
--   <prefix>file-number                     string: the number of the newest file
--   <prefix>file-bytes, file-total          include the bytes of uploads
--   <prefix>file-joins                      string: bytes of the parts that are still to be joined into files, including uploads of parts;
--                                           as many bytes are left free for the joined files
--   <prefix>file-uploads                    hash: object of each upload to `<owner> <reserved bytes> <kind>`; the kind is `file`, or `part`
--                                           for results of a batch, or `join` for a file that joins such parts
--   <prefix>file-removals                   sorted set: objects without a record, by the earliest time of their removal: objects of uploads
--                                           that have not become files, and of removed files
--   <prefix>file-holds                      hash: object to the number of batches that hold it; held objects are not removed
--   <prefix>file-held                       hash: each held object without a file to `<owner> <bytes>`, for results of a batch followed by
--                                           ` part`; the bytes count for the owner
owned.one, owned.many = 'file', 'files'

-- Returns the list of an owner's files by age: of all files, or of one purpose.
local function byAge(owner, purpose)
  return owned.nameOf('by-age', owner) .. (purpose and ':' .. purpose or '')
end

local function placesOf(owner)
  return prefix .. 'file-places:' .. owner
end

-- Returns the bytes that are left free for joined files.
local function joinBytes()
  return tonumber(redis.call('GET', prefix .. 'file-joins') or 0)
end

-- Adds bytes of an upload to the counts. A `join` does not count for its owner until it is a file, because its parts count until then.
local function countKind(kind, owner, bytes)
  if kind == 'join' then
    redis.call('INCRBY', owned.nameOf('total'), whole(bytes))
    return
  end
  owned.countBytes(owner, bytes)
  if kind == 'part' then
    redis.call('INCRBY', prefix .. 'file-joins', whole(bytes))
  end
end

local function scheduleRemoval(object, at)
  redis.call('ZADD', prefix .. 'file-removals', whole(at), object)
end

-- Returns the owner, the bytes and the kind of an object in `file-uploads` or `file-held`; nil if it is not there.
local function readOwnership(name, object)
  local text = redis.call('HGET', prefix .. name, object)
  if not text then
    return nil
  end
  local owner, bytes, kind = string.match(text, '^(%S+) (%d+) ?(%a*)$')
  return owner, tonumber(bytes), kind
end

-- Returns the owner of an upload, the bytes that it has reserved, and its kind; nil for an unknown upload.
local function uploadOf(object)
  return readOwnership('file-uploads', object)
end

-- Ends an upload and releases the bytes that it has reserved. Returns whether there was such an upload.
local function endUpload(object)
  local owner, bytes, kind = uploadOf(object)
  if owner then
    redis.call('HDEL', prefix .. 'file-uploads', object)
    countKind(kind, owner, -bytes)
  end
  return owner ~= nil
end

-- Returns whether an upload may become a file, because it does not count as dead, and its owner exists.
local function canBecomeFile(owner, object)
  return not owned.isRefused(owner) and uploadOf(object) ~= nil
end

-- Turns an upload into a file { object, id, purpose, bytes, expiresAt }. `text` is its record as JSON. The caller must have checked
-- `canBecomeFile`.
local function keep(owner, file, text)
  endUpload(file.object)
  redis.call('ZREM', prefix .. 'file-removals', file.object)
  local number = redis.call('INCR', prefix .. 'file-number')
  redis.call('ZADD', byAge(owner, file.purpose), number, file.id)
  owned.add(owner, file.id, text, file.bytes, number, file.expiresAt)
end

-- Lets a batch hold an object.
local function hold(object)
  redis.call('HINCRBY', prefix .. 'file-holds', object, 1)
end

local function isHeld(object)
  return redis.call('HEXISTS', prefix .. 'file-holds', object) == 1
end

-- Marks a held object as an object without a file. Its bytes are counted already.
local function noteHeld(object, owner, bytes)
  redis.call('HSET', prefix .. 'file-held', object, owner .. ' ' .. whole(bytes))
end

-- Ends a known upload of the kind `part`, and lets a batch hold its object.
local function holdUpload(object, bytes)
  local owner = uploadOf(object)
  endUpload(object)
  redis.call('ZREM', prefix .. 'file-removals', object)
  countKind('part', owner, bytes)
  hold(object)
  redis.call('HSET', prefix .. 'file-held', object, owner .. ' ' .. whole(bytes) .. ' part')
end

-- Releases an object that a batch held. Returns whether the object may be removed: no other batch holds it, and it has no file.
local function release(object)
  if redis.call('HINCRBY', prefix .. 'file-holds', object, -1) > 0 then
    return false
  end
  redis.call('HDEL', prefix .. 'file-holds', object)
  local owner, bytes, kind = readOwnership('file-held', object)
  if not owner then
    return false
  end
  redis.call('HDEL', prefix .. 'file-held', object)
  countKind(kind, owner, -bytes)
  scheduleRemoval(object, now)
  return true
end

-- Schedules the removal of the object of a removed file. An object that a batch holds stays, and still counts for the owner.
function owned.forgetMore(owner, id, record)
  redis.call('ZREM', byAge(owner, record.purpose), id)
  if isHeld(record.object) then
    noteHeld(record.object, owner, record.bytes)
    return true
  end
  scheduleRemoval(record.object, now)
end
