-- The names of recordings, besides those of owned.lua. The id of a recording is that of its request.
--
--   <prefix>recording:<owner>:<id>       hash: `at` (when it was stored), and `facts`, `request` and `answer` (the description of the
--                                        request, its body and its answer), all sealed
--   <prefix>recording-of:<owner>         the entries: bytes, party (who may see the recording: `user:<id>`, `team:<id>`, or `key:<id>` of a
--                                        router key)
--   <prefix>recording-seen-by:<party>    sorted set: `<owner>/<id>` of the recordings that a party may see, by the time at which they were
--                                        stored
--   <prefix>recording-all                sorted set: `<owner>/<id>` of all recordings, by the same time
--   <prefix>recording-request:<id>       set: the owners who have a recording with the id. There may be several, because clients choose ids.
owned.one, owned.many, owned.content = 'recording', 'recording', 'recording'

function owned.addMore(owner, id, entry)
  local member = owner .. '/' .. id
  redis.call('ZADD', owned.nameOf('seen-by', entry.party), whole(now), member)
  redis.call('ZADD', owned.nameOf('all'), whole(now), member)
  redis.call('SADD', owned.nameOf('request', id), owner)
end

function owned.forgetMore(owner, id, entry)
  local member = owner .. '/' .. id
  redis.call('ZREM', owned.nameOf('seen-by', entry.party), member)
  redis.call('ZREM', owned.nameOf('all'), member)
  redis.call('SREM', owned.nameOf('request', id), owner)
end
