-- Stores a response.
--
-- ARGV[1]  JSON, besides prefix: `options` for `keepStored`
-- ARGV[2]  the sealed response
-- ARGV[3]  its entry, as JSON
-- Returns 1, 0 if the response has more bytes than may be stored, or -1 if its owner no longer exists.
return keepStored(args, ARGV[2], ARGV[3])
