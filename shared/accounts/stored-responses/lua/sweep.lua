-- Removes some of the records of expired responses.
--
-- ARGV[1]  JSON: prefix
-- Returns how many records were removed.
return sweep()
