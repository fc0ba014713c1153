-- Removes what is known of responses whose content has expired, some of them.
--
-- ARGV[1]  JSON: prefix
-- Returns of how many.
return sweep()
