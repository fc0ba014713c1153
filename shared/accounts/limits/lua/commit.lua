-- Replaces the reservation of a request by its actual use, even if the reservation has expired. A repeated call does nothing.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
--   id      id of the reservation
--   tokens
--   cost    in nano-dollars; cost and tokens are 0 for a request that cost nothing
-- Returns 1, or 0 when there is no such reservation, because it was committed already.
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
