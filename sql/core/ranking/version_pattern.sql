-- Returns a regular expression for any of the versions in a text, such as 16.4. NULL: there are none.
--
-- Plain numbers and years are none: memories write them in many ways. A version is also found in a longer one: 16.4 in 16.4.1.
CREATE OR REPLACE FUNCTION _pgrecall.version_pattern(query text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT '(?:^|[^[:alnum:].])[a-z]*(?:' || string_agg(replace(n.found[1], '.', '\.'), '|') || ')(?![0-9])'
    FROM regexp_matches(
        CASE WHEN query LIKE '%_._%' THEN query END, '(?:^|[^[:alnum:].-])[a-z]*([0-9]+(?:\.[0-9]+)+)(?![[:alnum:]])', 'gi'
    ) n (found)
);
