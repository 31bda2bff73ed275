-- Splits a text into words for comparison: stem, kind, and the separators between them.
--
-- It does not use the lexemes of search_vector, because they drop negations as stop words and lose order and
-- possessives. Stems are English. In other languages few words match, so curation decides ADD.
--
-- kind           content, number, light (carries little meaning alone), negation, stop, break (punctuation)
-- is_possessive  owns the next word: Noor's
CREATE OR REPLACE FUNCTION _pgrecall.tokenize_text(content text)
RETURNS TABLE (place integer, word text, stem text, kind text, is_name boolean, is_possessive boolean)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    WITH token AS (
        SELECT t.place::integer AS place, t.found[1] AS word
        FROM regexp_matches(
            -- Join 1,250 into one number; normalise apostrophes.
            regexp_replace(translate(normalize(tokenize_text.content, NFKC), '’‘', ''''''), '([0-9]),(?=[0-9]{3}(?![0-9]))', '\1', 'g'),
            '[[:alnum:]]+(?:[-_.:/@+]+[[:alnum:]]+)*(?:''[[:alpha:]]+|''(?![[:alnum:]]))?|[[:punct:]\n]', 'g'
        ) WITH ORDINALITY t (found, place)
    ), form AS (
        SELECT t.place, t.word, lower(t.word) AS low,
               regexp_replace(lower(t.word), '(?:n''t|''[[:alpha:]]*)$', '') AS base
        FROM token t
    ), number AS (
        SELECT f.place, f.word, f.low, f.base, (
            SELECT n.digits FROM (VALUES
                ('two', '2'), ('three', '3'), ('four', '4'), ('five', '5'), ('six', '6'), ('seven', '7'), ('eight', '8'),
                ('nine', '9'), ('ten', '10'), ('eleven', '11'), ('twelve', '12')
            ) n (number_word, digits)
            WHERE n.number_word = f.base
        ) AS digits
        FROM form f
    )
    SELECT n.place, n.word, COALESCE(n.digits, s.stem, n.base),
           CASE
               WHEN n.word !~ '[[:alnum:]]' THEN 'break'
               WHEN n.low ~ 'n''t$' OR n.base IN (
                   'not', 'no', 'never', 'none', 'nobody', 'nothing', 'nowhere', 'nor', 'neither', 'cannot', 'without', 'hardly',
                   'nicht', 'kein', 'keine', 'keinen', 'keinem', 'keiner', 'nie', 'niemals', 'ohne', 'non', 'ne', 'pas', 'jamais',
                   'sans', 'nunca', 'jamás', 'tampoco', 'sin', 'não', 'mai', 'senza', 'niet', 'geen', 'nooit', 'не', 'нет', 'никогда', 'без'
               ) THEN 'negation'
               WHEN n.digits IS NOT NULL OR n.base ~ '[0-9]' THEN 'number'
               WHEN s.stem IS NULL THEN 'stop'
               WHEN s.stem IN (
                   'also', 'alreadi', 'realli', 'veri', 'pleas', 'take', 'place', 'make', 'made', 'get', 'got', 'use', 'go',
                   'goe', 'around', 'about', 'approxim', 'rough', 'few', 'sever', 'some', 'somewher', 'sometim', 'someth', 'ago',
                   'current', 'general', 'usual'
               ) THEN 'light'
               ELSE 'content'
           END,
           n.word ~ '^[[:upper:]]' AND s.stem IS NOT NULL,
           n.low ~ '(''s|s'')$'
    FROM number n
    CROSS JOIN LATERAL (SELECT (ts_lexize('pg_catalog.english_stem', n.base))[1] AS stem) s;
END;
