-- Marks English pronouns of the first and second person so that they are no stop words: I becomes i0, your your0.
--
-- "My dog" and "your dog" differ in a memory, and BM25 already gives a common word little weight. A digit of
-- another script, which goes on a word, is a border to a regular expression.
CREATE OR REPLACE FUNCTION _pgrecall.mark_pronouns(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(content, '\m(?:I|i|[Mm][ey]|[Yy]our?|[Ww]e|[Oo]ur)\M(?![\u0080-\U0010ffff])', '\&0', 'g');
