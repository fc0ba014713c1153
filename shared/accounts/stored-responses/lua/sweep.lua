-- Removes some of the records of responses whose content has expired.
--
-- ARGV[1]  JSON: prefix
-- Returns how many records were removed.
return sweep()
