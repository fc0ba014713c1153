-- Stores the answer to the box that has redeemed an invitation, unless the invitation was withdrawn meanwhile.
--
-- KEYS[1]  the invitation (hash)
-- ARGV[1]  JSON:
--   fields  fields of the record
local invitation = KEYS[1]
if redis.call('EXISTS', invitation) == 1 then
  for name, value in pairs(cjson.decode(ARGV[1]).fields) do
    redis.call('HSET', invitation, name, value)
  end
end
