-- Tells whether a sentence ends with a question mark, of any script, after a word. A semicolon is one in Greek.
CREATE OR REPLACE FUNCTION _pgrecall.ends_with_question(sentence text)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sentence ~ '\w.*([?？؟՞፧]|[Ͱ-Ͽἀ-῿];)["''”’»」』)\]*_\s]*$';
