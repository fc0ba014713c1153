-- Puts what a request really came to in the place of what was held for it, also when the reservation has expired meanwhile.
-- Doing it again does nothing.
--
-- ARGV[1]  prefix of all names
-- ARGV[2]  id of the reservation
-- ARGV[3]  tokens, ARGV[4] cost in nano-dollars; both 0 for work that died before it cost anything
-- Returns 1, or 0 when there is no such reservation: it is committed already.
local reservation = readReservation(ARGV[2])
if not reservation then
  return 0
end
if not reservation.expired then
  redis.call('ZREM', reservations, ARGV[2])
  book(reservation, -1)
end
spend(reservation, tonumber(ARGV[3]), tonumber(ARGV[4]))
redis.call('DEL', prefix .. 'reservation:' .. ARGV[2])
return 1
