-- Returns the terms of the values in a query, beside those of its words; NULL for a query without any, at the cost of one test.
--
-- They are the lexemes of value_terms(), which memories hold, and the words of value_synonyms() in the namespace's languages.
CREATE OR REPLACE FUNCTION _pgrecall.query_values(languages regconfig[], query text)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    plain text := lower(_pgrecall.strip_accents(left(query, 4096)));
    found text[];
    others text[];
    is_numeric boolean;
BEGIN
    IF query IS NULL OR (query !~ '[0-9]' AND NOT _pgrecall.may_state_value(plain)) THEN
        RETURN NULL;
    END IF;
    found := _pgrecall.value_terms(query);
    IF translate(array_to_string(found, ' '), '0123456789', 'dddddddddd') LIKE '%=dd-d%' THEN
        -- A day of a month is more than the day and the month. A month in words has the day beside it as a word.
        is_numeric := array_to_string(found, ' ') LIKE '%=m%';
        found := ARRAY(
            SELECT f.term FROM unnest(found) f (term)
            WHERE NOT starts_with(f.term, '=m') AND (is_numeric OR NOT starts_with(f.term, '=o'))
        );
    ELSE
        IF query LIKE ANY ('{% Ma%,% Mon%,% Wed%,% Sat%,% Sun%}'::text[]) THEN
            -- A capital in the middle of a sentence: the May review, on Sun.
            plain := regexp_replace(
                left(query, 4096), '([[:lower:],;:] )(May|March|Mar|Mai|Mon|Wed|Sat|Sun)\M', '\1in \2', 'g'
            );
            plain := lower(_pgrecall.strip_accents(plain));
        END IF;
        others := _pgrecall.value_synonyms(plain) || ARRAY(
            SELECT n.name
            FROM jsonb_each_text(_pgrecall.month_names()) n (name, number)
            WHERE '=m' || n.number = ANY (found) AND n.name <> ALL (_pgrecall.ordinary_names())
        );
        found := found || ARRAY(SELECT o.word FROM unnest(others) o (word) WHERE o.word LIKE '=%');
        IF cardinality(others) > 0 THEN
            found := found || ARRAY(
                SELECT t.lexeme
                FROM unnest(languages) l (language)
                CROSS JOIN LATERAL unnest(to_tsvector(
                    l.language, (SELECT string_agg(o.word, ' ') FROM unnest(others) o (word) WHERE o.word NOT LIKE '=%')
                )) t
            );
        END IF;
    END IF;
    RETURN ARRAY(SELECT DISTINCT f.term FROM unnest(found) f (term));
END
$function$;
