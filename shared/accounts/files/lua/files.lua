-- The functions that the scripts of this folder share. This file is prepended to each of them, after script-start.lua. All names begin with
-- one prefix. An owner is a person, a team or a key. The ids of owners and of files, and the names of objects, have no spaces.
--
--   <prefix>files-of:<owner>                hash: id of each file to its record, JSON: see FileRecord
--   <prefix>files-by-age:<owner>            sorted set: ids of the files in the order in which they were added
--   <prefix>files-by-age:<owner>:<purpose>  sorted set: ids of the files with one purpose, in the same order
--   <prefix>file-places:<owner>             see removed-places.lua: ids of removed files, and the numbers that they had
--   <prefix>files-refused:<owner>           string that expires: present if the owner no longer exists; no file is added for it
--   <prefix>file-number                     string: the number of the newest file
--   <prefix>file-expiries                   sorted set: `<owner> <id>` of the files that expire, by the time of their expiry
--   <prefix>file-bytes                      sorted set: owners, by the bytes of their files and of their uploads
--   <prefix>file-total                      string: bytes of all files and uploads
--   <prefix>file-joins                      string: bytes of the parts that are still to be joined into files, including uploads of parts;
--                                           as many bytes are left free for the joined files
--   <prefix>file-uploads                    hash: object of each upload to `<owner> <reserved bytes> <kind>`; the kind is `file`, or `part`
--                                           for results of a batch, or `join` for a file that joins such parts
--   <prefix>file-removals                   sorted set: objects without a record, by the earliest time of their removal: objects of uploads
--                                           that have not become files, and of removed files
--   <prefix>file-holds                      hash: object to the number of batches that hold it; held objects are not removed
--   <prefix>file-held                       hash: each held object without a file to `<owner> <bytes>`, for results of a batch followed by
--                                           ` part`; the bytes count for the owner

-- Maximum of expired files whose records one call removes.
local maxExpiredAtOnce = 100

local function recordsOf(owner)
  return prefix .. 'files-of:' .. owner
end

local function byAge(owner, purpose)
  return prefix .. 'files-by-age:' .. owner .. (purpose and ':' .. purpose or '')
end

local function placesOf(owner)
  return prefix .. 'file-places:' .. owner
end

local function recordOf(owner, id)
  local text = redis.call('HGET', recordsOf(owner), id)
  return text and cjson.decode(text) or nil
end

local function bytesOf(owner)
  return tonumber(redis.call('ZSCORE', prefix .. 'file-bytes', owner) or 0)
end

local function totalBytes()
  return tonumber(redis.call('GET', prefix .. 'file-total') or 0)
end

-- Returns the bytes that are left free for joined files.
local function joinBytes()
  return tonumber(redis.call('GET', prefix .. 'file-joins') or 0)
end

-- Adds bytes to the counts of an owner and of all owners; a number below 0 subtracts bytes.
local function countBytes(owner, bytes)
  redis.call('INCRBY', prefix .. 'file-total', whole(bytes))
  if tonumber(redis.call('ZINCRBY', prefix .. 'file-bytes', whole(bytes), owner)) <= 0 then
    redis.call('ZREM', prefix .. 'file-bytes', owner)
  end
end

-- Adds bytes of an upload to the counts. A `join` does not count for its owner until it is a file, because its parts count until then.
local function countKind(kind, owner, bytes)
  if kind == 'join' then
    redis.call('INCRBY', prefix .. 'file-total', whole(bytes))
    return
  end
  countBytes(owner, bytes)
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
  return redis.call('EXISTS', prefix .. 'files-refused:' .. owner) == 0 and uploadOf(object) ~= nil
end

-- Turns an upload into a file { object, id, purpose, bytes, expiresAt }. `text` is its record as JSON. The caller must have checked
-- `canBecomeFile`.
local function keep(owner, file, text)
  endUpload(file.object)
  redis.call('ZREM', prefix .. 'file-removals', file.object)
  countBytes(owner, file.bytes)
  local number = redis.call('INCR', prefix .. 'file-number')
  redis.call('HSET', recordsOf(owner), file.id, text)
  redis.call('ZADD', byAge(owner), number, file.id)
  redis.call('ZADD', byAge(owner, file.purpose), number, file.id)
  if file.expiresAt then
    redis.call('ZADD', prefix .. 'file-expiries', whole(file.expiresAt), owner .. ' ' .. file.id)
  end
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

-- Removes the record of a file, and schedules the removal of its object. An object that a batch holds stays, and still counts for the
-- owner. Returns the record; nil for an unknown file.
local function forget(owner, id)
  redis.call('ZREM', prefix .. 'file-expiries', owner .. ' ' .. id)
  redis.call('ZREM', byAge(owner), id)
  local record = recordOf(owner, id)
  if not record then
    return nil
  end
  redis.call('HDEL', recordsOf(owner), id)
  redis.call('ZREM', byAge(owner, record.purpose), id)
  if isHeld(record.object) then
    noteHeld(record.object, owner, record.bytes)
  else
    countBytes(owner, -record.bytes)
    scheduleRemoval(record.object, now)
  end
  return record
end

-- Removes the records of files that have expired.
local function expire()
  local expired = redis.call('ZRANGEBYSCORE', prefix .. 'file-expiries', '-inf', whole(now), 'LIMIT', 0, maxExpiredAtOnce)
  for _, member in ipairs(expired) do
    local owner, id = string.match(member, '^(%S+) (.+)$')
    forget(owner, id)
  end
end
