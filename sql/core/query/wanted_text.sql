-- Returns a query in web-search syntax without the words and phrases that a minus excludes; see match_websearch().
CREATE OR REPLACE FUNCTION _pgrecall.wanted_text(query text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT COALESCE(string_agg(COALESCE(f.part[2], f.part[3]), ' ' ORDER BY f.place) FILTER (WHERE f.part[1] <> '-'), '')
    FROM regexp_matches(
        regexp_replace(query, '[\u201c-\u201f\u00ab\u00bb\uff02]', '"', 'g'), '(-?)(?:"([^"]*)"?|([^[:space:]"]+))', 'g'
    ) WITH ORDINALITY AS f (part, place);
END;
