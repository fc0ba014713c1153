-- Removes some of the things that have expired.
--
-- ARGV[1]  JSON: prefix
-- Returns how many were removed.
return owned.sweep()
