-- Puts what a request really came to in the place of what was held for it, also when the hold has expired meanwhile.
-- Doing it again does nothing.
--
-- ARGV[1]  prefix of all names
-- ARGV[2]  id of the hold
-- ARGV[3]  tokens, ARGV[4] cost in nano-dollars; both 0 for work that died before it cost anything
-- Returns 1, or 0 when there is no such hold: it is settled already.
local hold = readHold(ARGV[2])
if not hold then
  return 0
end
if not hold.expired then
  redis.call('ZREM', holds, ARGV[2])
  book(hold, -1)
end
spend(hold, tonumber(ARGV[3]), tonumber(ARGV[4]))
redis.call('DEL', prefix .. 'hold:' .. ARGV[2])
return 1
