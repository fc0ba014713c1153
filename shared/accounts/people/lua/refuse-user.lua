-- Ends the sign-in sessions, programs and admin tokens of a person whom their provider refuses. Does nothing if they have signed in at the
-- provider since the router asked the provider.
--
-- KEYS[1]  record of the user (hash)
-- KEYS[2]  the user's account at a provider (hash)
-- ARGV[1]  JSON:
--   now       ms since 1970
--   endsKeys  whether their keys are refused, too
--   turn      `turn` of the account when the router asked the provider, '' if it had none; absent to accept any `turn`
-- Returns 1, or 0 when the person has signed in since, was unlinked or was deleted.
local user, external = unpack(KEYS)
local args = cjson.decode(ARGV[1])
if redis.call('EXISTS', user) == 0 then
  return 0
end
local provider, turn = unpack(redis.call('HMGET', external, 'provider', 'turn'))
if args.turn and (not provider or (turn or '') ~= args.turn) then
  return 0
end
redis.call('HINCRBY', user, 'epoch', 1)
redis.call('HINCRBY', user, 'tokenEpoch', 1)
if args.endsKeys then
  redis.call('HSET', user, 'refusedAt', string.format('%.0f', args.now))
end
return 1
