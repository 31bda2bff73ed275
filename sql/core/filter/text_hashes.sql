-- Returns the hashes by which matches_filter() finds texts in an index; NULL: no texts.
--
-- STRICT: most recalls have no such filter, and the server then does not start the function.
CREATE OR REPLACE FUNCTION _pgrecall.text_hashes(texts text[])
RETURNS integer[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT hashtext(t.value) FROM unnest(texts) t (value));
