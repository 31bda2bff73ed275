-- Tells whether a query names the speaker of a memory, by the first word of the name. NULL for a memory without one.
--
-- A first word that is a title or that most questions have (An Nguyen, Dr Weiss) does not tell: such a name counts as a whole, and not at
-- all if it has no other word. In scripts without spaces, and in Korean, the name may be a part of a word.
--
-- query_name  the query as normalize_name() writes it
CREATE OR REPLACE FUNCTION _pgrecall.names_speaker(query_name text, speaker text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN speaker IS NOT NULL THEN COALESCE((
    SELECT strpos(' ' || query_name || ' ', n.edge || CASE WHEN n.is_common THEN n.whole ELSE n.first END || n.edge) > 0
           AND (NOT n.is_common OR n.whole <> n.first)
    FROM (
        SELECT w.whole, w.first,
               CASE WHEN w.first ~ ('[' || _pgrecall.unspaced_class() || ']') THEN '' ELSE ' ' END AS edge,
               w.first = ANY (_pgrecall.name_titles())
               OR to_tsvector('pg_catalog.english', w.first) = '' AS is_common
        FROM (SELECT s.whole, substring(s.whole, '^\S{2,}') AS first FROM (SELECT pgrecall.normalize_name(speaker) AS whole) s) w
    ) n
), false) END;
