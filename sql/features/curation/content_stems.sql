-- Returns the stems of a text's content words and its numbers, in order.
CREATE OR REPLACE FUNCTION _pgrecall.content_stems(content text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(
    SELECT w.stem FROM _pgrecall.tokenize_text(content) w WHERE w.kind IN ('content', 'number') ORDER BY w.place
);
