-- Stores a response.
--
-- ARGV[1]  JSON, besides prefix and owner, what `keepStored` takes
-- ARGV[2]  the sealed response
-- ARGV[3]  what is known of it, see stored.lua
-- Returns 1, 0 if it has more bytes than may be stored, or -1 if its owner is gone.
return keepStored(args, ARGV[2], ARGV[3])
