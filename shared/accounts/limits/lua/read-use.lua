-- Returns what parties have used of their limits.
--
-- ARGV[1]  JSON:
--   prefix   start of all names
--   parties  see reservations.lua
-- Returns {the time in ms since 1970, then eleven numbers for each party}.
while sweep() == sweptAtOnce do end
local reply = { now }
for _, party in ipairs(args.parties) do
  addToReply(reply, readUse(party))
end
return reply
