-- Tells of most queries without a digit that they have no value: no name of a day or a month, no ordinal, no "chapter V", no 三公斤.
--
-- Words are compared. The pattern of all these names took 33 ms to compile, in each session, and again whenever the 32 patterns that
-- a session keeps were others.
--
-- plain  the query in small letters, without accents
CREATE OR REPLACE FUNCTION _pgrecall.may_state_value(plain text)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    words CONSTANT text[] := regexp_split_to_array(plain, '[^[:alnum:]_]+');
BEGIN
    RETURN EXISTS (
            SELECT FROM unnest(words) w (word)
            WHERE left(w.word, 3) = ANY (_pgrecall.value_starts()) OR w.word = ANY (_pgrecall.value_starts())
        )
        OR words && _pgrecall.numbered_nouns()
        OR (octet_length(plain) > length(plain) AND plain ~ _pgrecall.numerals());
END
$function$;
