-- Keeps reservations in force whose requests live. One that has expired, because it could not be renewed in time, is put into force
-- again: what it stands for is being used.
--
-- ARGV[1]   prefix of all names
-- ARGV[2]   milliseconds until they expire
-- ARGV[3…]  ids of reservations
-- Returns how many are in force.
local renewed = 0
for index = 3, #ARGV do
  local id = ARGV[index]
  local reservation = readReservation(id)
  if reservation then
    if reservation.expired then
      redis.call('HDEL', prefix .. 'reservation:' .. id, 'expired')
      redis.call('PERSIST', prefix .. 'reservation:' .. id)
      book(reservation, 1)
    end
    redis.call('ZADD', reservations, whole(now + tonumber(ARGV[2])), id)
    renewed = renewed + 1
  end
end
sweep()
return renewed
