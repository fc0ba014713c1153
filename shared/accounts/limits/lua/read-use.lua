-- Tells what parties have used of their limits.
--
-- ARGV[1]   prefix of all names
-- ARGV[2…]  eight values for each party, as readUse has them
-- Returns {the time in ms since 1970, then eleven numbers for each party}.
while sweep() == sweptAtOnce do end
local answer = { now }
for from = 2, #ARGV, 8 do
  reportUse(answer, readUse(from))
end
return answer
