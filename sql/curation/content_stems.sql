-- The stems of a text's words that say something, numbers among them, in their order.
CREATE OR REPLACE FUNCTION _pgrecall.content_stems(content text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(
    SELECT w.stem FROM _pgrecall.tokenize_text(content) w WHERE w.kind IN ('content', 'number') ORDER BY w.place
);

COMMENT ON FUNCTION _pgrecall.content_stems IS 'The stems of a text''s words that say something, numbers among them, in their order.';
