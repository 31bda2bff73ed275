-- An English text whose pronouns of the first and second person are no stop words: I is i0, your is your0.
--
-- "My dog" and "your dog" are not the same in a memory, and BM25 knows by itself how little a common word weighs.
CREATE OR REPLACE FUNCTION _pgrecall.mark_pronouns(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(content, '\m(?:I|i|[Mm][ey]|[Yy]our?|[Ww]e|[Oo]ur)\M', '\&0', 'g');

COMMENT ON FUNCTION _pgrecall.mark_pronouns IS
    'An English text whose pronouns of the first and second person are no stop words: I is i0, your is your0.';
