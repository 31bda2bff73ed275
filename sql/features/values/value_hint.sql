-- Returns a regular expression that every query with a value in it matches, and few others.
CREATE OR REPLACE FUNCTION _pgrecall.value_hint()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT '[0-9]|' || _pgrecall.numerals() || '|\m(?:' || string_agg(DISTINCT k.start, '|') || ')[[:alpha:]]*\M'
           || '|\m' || _pgrecall.numbered_nouns() || '\.? (?:[ivx]+|'
           || (SELECT string_agg(n.names ->> 1, '|') FROM jsonb_each(_pgrecall.number_names()) n (number, names)) || ')\M'
    FROM (
        SELECT left(n.name, 3) AS start FROM jsonb_object_keys(_pgrecall.month_names() || _pgrecall.weekday_names()) n (name)
        UNION ALL
        SELECT n.names ->> 0 FROM jsonb_each(_pgrecall.number_names()) n (number, names)
    ) k;
END;
