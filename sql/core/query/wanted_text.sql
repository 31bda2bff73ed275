-- Returns a query in web-search syntax without the words and phrases that a minus excludes.
CREATE OR REPLACE FUNCTION _pgrecall.wanted_text(query text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT COALESCE(string_agg(t.text, ' ' ORDER BY t.place) FILTER (WHERE NOT t.is_unwanted), '')
    FROM _pgrecall.websearch_tokens(query) t;
END;
