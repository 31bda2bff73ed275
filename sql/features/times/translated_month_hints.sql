-- Returns LIKE patterns for translated_months(): the beginnings of the names, after a space if the language has any.
CREATE OR REPLACE FUNCTION _pgrecall.translated_month_hints(language text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(
    SELECT CASE language WHEN 'asia' THEN '%' ELSE '% ' END || left(m.name[1], 5) || '%'
    FROM regexp_matches(split_part(_pgrecall.translated_months(language), ')', 1), '[[:alpha:]]{2,}(?![[:alpha:]]*\])', 'g') m (name)
);
