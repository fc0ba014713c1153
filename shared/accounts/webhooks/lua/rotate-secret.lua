-- Sets a new secret of an endpoint. Until they expire, earlier secrets sign as well.
--
-- ARGV[1]  JSON:
--   prefix      start of all names
--   id
--   sealed      the new secret, sealed
--   overlapMs   milliseconds for which the previous secret still signs
--   maxSecrets  maximum number of secrets of an endpoint
-- Returns 1, or 0 when there is no such endpoint.
local args = cjson.decode(ARGV[1])
local endpoint = args.prefix .. 'webhook:' .. args.id
local stored = redis.call('HGET', endpoint, 'secrets')
if not stored then
  return 0
end
local now = webhooks.now()
local secrets = { { sealed = args.sealed } }
for _, secret in ipairs(cjson.decode(stored)) do
  local expiresAt = math.min(secret.expiresAt or math.huge, now + args.overlapMs)
  if expiresAt > now and #secrets < args.maxSecrets then
    table.insert(secrets, { sealed = secret.sealed, expiresAt = expiresAt })
  end
end
redis.call('HSET', endpoint, 'secrets', cjson.encode(secrets))
return 1
