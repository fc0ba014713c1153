-- Claims a key for an execution, unless another execution has the key, or the answer of another execution is kept for the key.
--
-- ARGV[1]  JSON, besides prefix, kind, owner and id:
--   attempt     id of the execution; if it has the key already, this call repeats a call whose reply was lost
--   leaseMs     milliseconds for which the execution has the key
--   keepMs      milliseconds for which the key stays known after the lease
--   isResumed   whether the request resumes an answer; such a request is never executed
--   ownerKeys   maximum of keys of the owner
--   ownerBytes, totalBytes  see `makeRoomBy`
--   wasAway     see answers.lua
-- ARGV[2]  endpoint and digest of the request, sealed
-- Returns {'claimed', number}; {'taken', state, attempt, facts, repetitions including this request}; {'unknown'} for a request that resumes
-- an unknown answer; {'full'} if the owner has too many keys, or there is no room.
sweep()
local state, attempt, facts, leaseUntil, isFree =
  unpack(redis.call('HMGET', record, 'state', 'attempt', 'facts', 'leaseUntil', 'isFree'))
if state == 'running' and attempt == args.attempt then
  redis.call('HSET', record, 'leaseUntil', whole(now + args.leaseMs))
  return { 'claimed', number('number') }
end
if state and not isFree and (state == 'over' or isLeased(tonumber(leaseUntil))) then
  return { 'taken', state, attempt, facts, redis.call('HINCRBY', record, 'repetitions', 1) }
end
if args.isResumed then
  return { 'unknown' }
end
local bytesById = names .. 'bytes-of:' .. owner
local isKnown = state or redis.call('HEXISTS', bytesById, id) == 1
if not isKnown and redis.call('HLEN', bytesById) >= args.ownerKeys then
  return { 'full' }
end
local executions = state and number('number') + 1 or 0
if isKnown then
  forget(owner, id)
end
if not makeRoom(recordBytes) then
  return { 'full' }
end
redis.call('HSET', record, 'state', 'running', 'attempt', args.attempt, 'number', executions, 'facts', ARGV[2])
redis.call('HSET', record, 'leaseUntil', whole(now + args.leaseMs), 'next', 0)
countBytes(owner, id, recordBytes)
expireAfter(args.leaseMs + args.keepMs)
return { 'claimed', executions }
