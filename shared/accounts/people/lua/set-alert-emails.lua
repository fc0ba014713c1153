-- Sets whether an existing person wants alerts by e-mail.
--
-- KEYS[1]  record of the user (hash)
-- ARGV[1]  JSON:
--   wanted
-- Returns 1, or 0 when there is no such person.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'alertEmails', tostring(cjson.decode(ARGV[1]).wanted))
return 1
