-- Splits a query in web-search syntax into its tokens, in their order: words, and phrases in quotation marks of any kind.
--
-- is_unwanted  a minus stands before it;  is_or  it is the word or
CREATE OR REPLACE FUNCTION _pgrecall.websearch_tokens(query text)
RETURNS TABLE (place bigint, is_unwanted boolean, is_or boolean, text text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10
BEGIN ATOMIC
    SELECT f.place, f.part[1] = '-', f.part[1] = '' AND lower(f.part[3]) = 'or', COALESCE(f.part[2], f.part[3])
    FROM regexp_matches(
        regexp_replace(query, '[\u201c-\u201f\u00ab\u00bb\uff02]', '"', 'g'), '(-?)(?:"([^"]*)"?|([^[:space:]"]+))', 'g'
    ) WITH ORDINALITY AS f (part, place);
END;
