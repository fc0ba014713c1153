-- Extends the reservations of running requests. A reservation that has expired because it was not renewed in time is put into force again,
-- because its request is still running.
--
-- ARGV[1]  JSON:
--   prefix  start of all names
--   ids     ids of the reservations
--   keepMs  milliseconds until the reservations expire
-- Returns how many of the reservations are in force.
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
