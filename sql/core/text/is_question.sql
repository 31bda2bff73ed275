-- Tells whether a sentence ends with a question mark, of any script, after a word.
CREATE OR REPLACE FUNCTION _pgrecall.is_question(sentence text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sentence ~ '\w.*[?？؟;՞፧]["''”’»」』)\]*_\s]*$';
