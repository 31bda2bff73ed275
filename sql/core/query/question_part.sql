-- Returns the part of a query that is searched: of a text of more than 1,000 characters the questions at its end, else all of it.
--
-- An agent may hand over a whole conversation. Its words would bury those of the question, and most models read no more than the
-- first 1,000 characters. A client that embeds queries embeds this part.
--
-- The questions are the last sentences that end with a question mark, at most 300 characters of them. The sentence before
-- them is kept, too, if they have less than 16 bytes: "Which one?" says nothing alone. A longer question is kept whole.
CREATE OR REPLACE FUNCTION pgrecall.question_part(query text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    sentences text[];
    part text := '';
BEGIN
    IF length(query) > 1000 THEN
        sentences := _pgrecall.sentences(right(btrim(query, E' \t\n\r'), 2000));
        FOR place IN REVERSE cardinality(sentences)..2 LOOP
            EXIT WHEN NOT CASE
                WHEN part = '' THEN _pgrecall.ends_with_question(sentences[place])
                ELSE octet_length(part) < 16
                     OR _pgrecall.ends_with_question(sentences[place]) AND length(part) + length(sentences[place]) < 300
            END;
            part := btrim(sentences[place] || ' ' || part);
        END LOOP;
    END IF;
    RETURN COALESCE(NULLIF(part, ''), query);
END
$function$;

ALTER FUNCTION pgrecall.question_part OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.question_part TO pgrecall_reader, pgrecall_embedder;
