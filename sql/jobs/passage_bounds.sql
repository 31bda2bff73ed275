-- Returns the passages of a long text: windows of about 100 words that end with a sentence. A short text has none.
--
-- A model reads only the first few hundred tokens of a text, and one vector for many topics is near none of them. So
-- memories of more than 150 words also get an embedding for each passage.
--
-- A passage ends at the first sentence or line that ends after 75 words, and after 125 words in any case. A run of 40
-- characters without a space counts as a word, and two Chinese, Japanese or Korean characters do.
--
-- starts_at, ends_at  the characters from starts_at up to, not including, ends_at; the first is 0
CREATE OR REPLACE FUNCTION _pgrecall.passage_bounds(content text)
RETURNS TABLE (number integer, starts_at integer, ends_at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 4
SET search_path FROM CURRENT
AS $function$
DECLARE
    long_text CONSTANT double precision := 150;
    shortest CONSTANT double precision := 75;
    longest CONSTANT double precision := 125;
    total double precision;
    words double precision := 0;
    position integer := 0;
    piece record;
BEGIN
    SELECT array_agg(p.text ORDER BY p.place) AS texts, array_agg(w.words ORDER BY p.place) AS words, sum(w.words) AS total
    INTO piece
    FROM (
        SELECT m.match[1] AS text, m.place
        FROM regexp_matches(content, '[^\s。！？]{1,40}[。！？]*\s*|[。！？]+\s*|\s+', 'g') WITH ORDINALITY m (match, place)
    ) p
    CROSS JOIN LATERAL (
        SELECT greatest(
            1, length(regexp_replace(p.text, '[^' || _pgrecall.cjk_class() || ']', '', 'g')) / 2.0
        )::double precision AS words
    ) w;
    total := piece.total;
    IF total IS NULL OR total <= long_text THEN
        RETURN;
    END IF;
    number := 0;
    starts_at := 0;
    FOR place IN 1 .. cardinality(piece.texts) LOOP
        position := position + length(piece.texts[place]);
        words := words + piece.words[place];
        total := total - piece.words[place];
        -- The rest, if it is short, belongs to the last passage.
        CONTINUE WHEN total < shortest / 2 AND total > 0;
        IF total = 0 OR words >= longest OR (words >= shortest AND piece.texts[place] ~ '[.!?]["'')\]]*\s+$|[。！？]|\n') THEN
            number := number + 1;
            ends_at := position;
            RETURN NEXT;
            starts_at := position;
            words := 0;
        END IF;
    END LOOP;
END
$function$;

COMMENT ON FUNCTION _pgrecall.passage_bounds IS
    'Returns the passages of a long text: windows of about 100 words that end with a sentence.';
