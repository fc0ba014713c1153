-- Common functions of the scripts in this folder. This file is prepended to most of them, after script-start.lua. All names begin with
-- one prefix.
--
--   <prefix>batch:<id>                   hash: a BatchRecord
--   <prefix>batches-of:<api>:<owner>     sorted set: ids of an owner's batches of an API, by the time at which they were created
--   <prefix>batch-places:<api>:<owner>   see pages.lua: ids of removed batches, and when they were created
--   <prefix>batches-open                 sorted set: ids of all unfinished batches, by the time at which they expire
--   <prefix>batches-open-of:<owner>      sorted set: ids of an owner's unfinished batches, by the same time
--   <prefix>batch-slices:<id>            hash: number of each slice to JSON: the position of its lines in the input
--   <prefix>batch-done:<id>              hash: number of each slice that is over to JSON: the objects with its results
--   <prefix>batch-errors:<id>            list: code and line, as JSON, of the first lines with an error
--   <prefix>batch-held:<id>              set: the objects that the batch holds, see files.lua: its input, large results of its lines, and
--                                        the other results of its slices. It does not expire. While it exists, the batch is in
--                                        `batches-open`.
--   <prefix>batch-results:<id>:<slice>   hash: number of a line in the slice to its result, sealed, or to JSON: its outcome and the object
--                                        that it is in; until the slice is over
--
-- ARGV[1]  JSON, besides prefix:
--   id  of the batch
local record = prefix .. 'batch:' .. args.id

-- Returns the name of another record of the batch.
local function nameOf(kind)
  return prefix .. 'batch-' .. kind .. ':' .. args.id
end

-- Returns the name of the results of a slice.
local function resultsOf(slice)
  return nameOf('results') .. ':' .. slice
end

local function field(name)
  return redis.call('HGET', record, name)
end

-- Returns whether the batch is known and unfinished.
local function isOpen()
  local state = field('state')
  return state and state ~= 'ended' and state ~= 'failed'
end

-- Sets a record of the batch to expire together with the batch's main record.
local function keepWithRecord(name)
  redis.call('PEXPIRE', name, math.max(1, redis.call('PTTL', record)))
end
