-- Returns the terms of the values in a query, beside those of its words; NULL for a query without any, at the cost of one test.
--
-- They are the lexemes of value_terms(), which memories hold, and the words of value_synonyms() in the namespace's languages.
CREATE OR REPLACE FUNCTION _pgrecall.query_values(languages regconfig[], query text)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    plain text;
    found text[];
    others text[];
    is_numeric boolean;
BEGIN
    IF query IS NULL OR lower(query) !~ _pgrecall.value_hint() THEN
        RETURN NULL;
    END IF;
    found := _pgrecall.value_terms(query);
    IF array_to_string(found, ' ') ~ '=\d\d-\d' THEN
        -- A day of a month is more than the day and the month. A month in words has the day beside it as a word.
        is_numeric := array_to_string(found, ' ') LIKE '%=m%';
        found := ARRAY(SELECT f.term FROM unnest(found) f (term) WHERE f.term !~ CASE WHEN is_numeric THEN '^=m' ELSE '^=[mo]' END);
    ELSE
        -- A capital in the middle of a sentence: the May review, on Sun.
        plain := regexp_replace(query, '([[:lower:],;:] )(May|March|Mar|Mai|Mon|Wed|Sat|Sun)\M', '\1in \2', 'g');
        others := _pgrecall.value_synonyms(lower(_pgrecall.strip_accents(left(plain, 4096)))) || ARRAY(
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
