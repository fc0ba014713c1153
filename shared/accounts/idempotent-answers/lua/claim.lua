-- Claims a key for an execution, unless another execution has the key, or the answer of another execution is kept for the key.
--
-- ARGV[1]  JSON, besides prefix, owner and id:
--   attempt     id of the execution; if it has the key already, this call repeats a call whose reply was lost
--   leaseMs     milliseconds for which the execution has the key
--   keepMs      milliseconds for which the key stays known after the lease
--   isResumed   whether the request resumes an answer; such a request is never executed
--   ownerKeys   maximum of keys of the owner
--   ownerBytes  maximum bytes of an owner's answers
--   totalBytes  maximum bytes of all answers
--   wasAway     see answers.lua
-- ARGV[2]  endpoint and digest of the request, sealed
-- Returns {'claimed', number}; {'taken', state, attempt, facts, repetitions including this request}; {'unknown'} for a request that resumes
-- an unknown answer; {'full'} if the owner has too many keys, or there is no room.
sweep()
local state, attempt, facts, leaseUntil, isFree =
  unpack(redis.call('HMGET', record, 'state', 'attempt', 'facts', 'leaseUntil', 'isFree'))
if state == 'running' and attempt == args.attempt then
  redis.call('HSET', record, 'leaseUntil', whole(now + args.leaseMs))
  return { 'claimed', readNumber('number') }
end
if state and not isFree and (state == 'over' or isLeased(tonumber(leaseUntil))) then
  return { 'taken', state, attempt, facts, redis.call('HINCRBY', record, 'repetitions', 1) }
end
if args.isResumed then
  return { 'unknown' }
end
local isNew = redis.call('HEXISTS', prefix .. 'idempotent-bytes-of:' .. owner, id) == 0
if isNew and redis.call('HLEN', prefix .. 'idempotent-bytes-of:' .. owner) >= args.ownerKeys then
  return { 'full' }
end
local number = state and readNumber('number') + 1 or 0
if not isNew then
  forget(owner, id)
end
if not makeRoom(recordBytes) then
  return { 'full' }
end
redis.call('HSET', record, 'state', 'running', 'attempt', args.attempt, 'number', number, 'facts', ARGV[2])
redis.call('HSET', record, 'leaseUntil', whole(now + args.leaseMs), 'next', 0)
countBytes(owner, id, recordBytes)
expireAfter(args.leaseMs + args.keepMs)
return { 'claimed', number }
