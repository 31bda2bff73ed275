-- Returns the passages of a long text: windows of about 100 words that end with a sentence. A short text has none.
--
-- A model reads only the first few hundred tokens of a text, and one vector for many topics is near none of them. So
-- memories of more than 150 words also get an embedding for each passage.
--
-- A passage ends at the first sentence or line that ends after 75 words, and after 125 words in any case. A run of 40
-- characters without a space counts as a word, and two Chinese, Japanese or Korean characters do, and five of Thai
-- and its like. Only the first 256
-- passages count.
--
-- starts_at, ends_at  the characters from starts_at up to, not including, ends_at; the first is 0
CREATE OR REPLACE FUNCTION _pgrecall.passage_bounds(content text)
RETURNS TABLE (number integer, starts_at integer, ends_at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 4
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    long_text CONSTANT integer := 150;
    shortest CONSTANT integer := 75;
    longest CONSTANT integer := 125;
    most CONSTANT integer := 256;
    words double precision := 0::double precision;
    position integer := 0;
    piece record;
BEGIN
    number := 0;
    starts_at := 0;
    FOR piece IN
        SELECT length(p.text) AS length, w.words, sum(w.words) OVER () AS total,
               sum(w.words) OVER (ORDER BY p.place DESC) - w.words AS rest,
               p.text ~ '[.!?]["'')\]]*\s+$|[。！？]|\n' AS ends_sentence
        FROM (
            SELECT m.match[1] AS text, m.place
            FROM regexp_matches(content, '[^\s。！？]{1,40}[。！？]*\s*|[。！？]+\s*|\s+', 'g') WITH ORDINALITY m (match, place)
        ) p
        CROSS JOIN LATERAL (
            SELECT CASE WHEN octet_length(p.text) = length(p.text) THEN 1 ELSE greatest(
                1, length(regexp_replace(p.text, '[^' || _pgrecall.cjk_class() || ']', '', 'g')) / 2.0
                   + length(regexp_replace(p.text, '[^' || _pgrecall.syllabic_class() || ']', '', 'g')) / 5.0
            ) END::double precision AS words
        ) w
        ORDER BY p.place
    LOOP
        EXIT WHEN piece.total <= long_text;
        position := position + piece.length;
        words := words + piece.words;
        -- The rest, if it is short, belongs to the last passage.
        CONTINUE WHEN piece.rest BETWEEN 0.5 AND shortest / 2.0;
        IF piece.rest = 0 OR words >= longest OR (words >= shortest AND piece.ends_sentence) THEN
            number := number + 1;
            ends_at := position;
            RETURN NEXT;
            EXIT WHEN number = most;
            starts_at := position;
            words := 0;
        END IF;
    END LOOP;
END
$function$;
