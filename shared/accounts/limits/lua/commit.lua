-- Counts what a request really came to in place of what was reserved for it, also when the reservation has expired meanwhile.
-- Doing it again does nothing.
--
-- ARGV[1]  JSON:
--   prefix  of all names
--   id      of the reservation
--   tokens
--   cost    in nano-dollars; it and the tokens are 0 for work that died before it cost anything
-- Returns 1, or 0 when there is no such reservation: it is committed already.
local reservation = readReservation(args.id)
if not reservation then
  return 0
end
if not reservation.expired then
  redis.call('ZREM', reservations, args.id)
  book(reservation, -1)
end
spend(reservation, args.tokens, args.cost)
redis.call('DEL', prefix .. 'reservation:' .. args.id)
return 1
