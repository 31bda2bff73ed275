-- Tells whether a query names the speaker of a memory, by the first word of the name. NULL for a memory without one.
--
-- query_name  the query as normalize_name() writes it
CREATE OR REPLACE FUNCTION _pgrecall.names_speaker(query_name text, speaker text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN speaker IS NOT NULL THEN COALESCE(
    strpos(' ' || query_name || ' ', ' ' || substring(pgrecall.normalize_name(speaker), '^\S{2,}') || ' ') > 0, false
) END;
