-- Extends the reservations of requests that live. A reservation that has expired because it was not renewed in time counts again: its
-- request uses what was reserved.
--
-- ARGV[1]  JSON:
--   prefix  of all names
--   ids     of the reservations
--   keepMs  milliseconds until they expire
-- Returns how many are in force.
local renewed = 0
for _, id in ipairs(args.ids) do
  local reservation = readReservation(id)
  if reservation then
    if reservation.expired then
      redis.call('HDEL', prefix .. 'reservation:' .. id, 'expired')
      redis.call('PERSIST', prefix .. 'reservation:' .. id)
      book(reservation, 1)
    end
    redis.call('ZADD', reservations, whole(now + args.keepMs), id)
    renewed = renewed + 1
  end
end
sweep()
return renewed
