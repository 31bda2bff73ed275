-- Compares two texts and returns numbers and booleans, the basis of curation by rules.
--
-- Words are equal if their English stems are; long ones also if one is a prefix of the other (deliver, deliveries), but not in scripts
-- without blanks, where a word is a clause.
-- Names and numbers must be identical. Texts of over 2,000 characters are only compared as wholes: {"is_equal": …}.
--
-- is_equal     equal except for case and punctuation
-- shared       words of the new text that the old one has;  gone, added  words of only one text, numbers included
-- names_gone, names_added, numbers_gone, numbers_added      names and numbers among those
-- narrows_old, narrows_new  words of one text that change what a shared one says: "staging" before server, "allergy" behind dog,
--              "wants to" before work
-- owns_old, owns_new        words of only one text that follow a possessive: Noor's sister
-- leads_old, leads_new      the text's first word occurs in the other text
-- is_turned    names come in another order: who owes whom
-- is_moved     but for negations and auxiliaries they have not the same words in the same order
-- keeps_old, keeps_new      the other text has what little words, forms of the past and signs this one has around the shared words,
--              in this order: from, his, was, before, most, liked, -5, C#
-- asks_old, asks_new        it only asks
-- swaps        places where one word replaces another between the same neighbours
-- is_negated_old, is_negated_new;  is_hedged_old, is_hedged_new  qualified by if, only, perhaps
CREATE OR REPLACE FUNCTION _pgrecall.text_overlap_stats(old_text text, new_text text)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    longest CONSTANT integer := 2000;
    hedges CONSTANT text[] := ARRAY['if', 'unless', 'only', 'except', 'until', 'might', 'maybe', 'perhaps', 'could', 'would',
                                    'possibly', 'probably', 'allegedly', 'almost', 'nearly', 'sometimes', 'occasionally', 'rarely',
                                    'seldom', 'mondays', 'tuesdays', 'wednesdays', 'thursdays', 'fridays', 'saturdays', 'sundays',
                                    'weekdays', 'weekends'];
    -- What says little: the texts may differ in it.
    fillers CONSTANT text[] := ARRAY['the', 'a', 'an', 'and', 'that', 'which', 'who', 'then', 'so', 'too', 'just', 'also', 'already',
                                     'really', 'very', 'please', 'currently', 'generally', 'usually', 'approximately', 'roughly',
                                     'around', 'about', 'do', 'does'];
    -- What begins another clause: words before it say nothing of those behind it.
    clauses CONSTANT text[] := ARRAY['and', 'or', 'but', 'because', 'since', 'after', 'before', 'when', 'while', 'as'];
    signs CONSTANT text := '([$€£¥]|[[:digit:]] ?[%°]|(?<![[:alnum:]])[-+](?=[[:digit:]])|[[:alnum:]](?:[+][+]|#)|[<>=])';
    unspaced CONSTANT text := '[' || _pgrecall.unspaced_class() || ']';
    found jsonb;
BEGIN
    found := jsonb_build_object(
        'is_equal', _pgrecall.comparable_text(old_text) = _pgrecall.comparable_text(new_text),
        'asks_old', _pgrecall.is_question(old_text), 'asks_new', _pgrecall.is_question(new_text)
    );
    IF length(old_text) > longest OR length(new_text) > longest THEN
        RETURN found;
    END IF;
    RETURN found || (
        WITH word AS MATERIALIZED (
            SELECT t.is_new, w.place, w.word, w.stem, w.kind, w.is_name, w.is_possessive,
                   w.kind IN ('content', 'number') AS counts
            FROM (VALUES (false, old_text), (true, new_text)) t (is_new, content)
            CROSS JOIN LATERAL _pgrecall.tokenize_text(t.content) w
        ), flagged AS MATERIALIZED (
            SELECT w.is_new, w.place, w.word, lower(w.word) AS low, w.stem, w.kind, w.is_name, w.is_possessive, w.counts,
                   w.counts AND t.stem IS NOT NULL AS is_shared,
                   CASE WHEN length(t.stem) < length(w.stem) THEN t.stem ELSE w.stem END AS same
            FROM word w
            LEFT JOIN LATERAL (
                SELECT o.stem FROM word o
                WHERE o.is_new <> w.is_new AND o.kind IN ('content', 'number', 'light')
                  AND (o.stem = w.stem
                       OR (w.kind = 'content' AND o.kind = 'content' AND NOT (o.is_name AND w.is_name)
                           AND least(length(o.stem), length(w.stem)) >= 5
                           AND abs(length(o.stem) - length(w.stem)) <= 3 AND w.stem !~ unspaced
                           AND (starts_with(o.stem, w.stem) OR starts_with(w.stem, o.stem))))
                ORDER BY o.stem <> w.stem, length(o.stem), o.stem
                LIMIT 1
            ) t ON true
        ), with_adjacent AS MATERIALIZED (
            SELECT m.is_new, m.place, m.word, m.low, m.stem, m.same, m.kind, m.is_name, m.is_possessive, m.counts, m.is_shared,
                   lag(m.stem) OVER sequence AS left_stem, lead(m.stem) OVER sequence AS right_stem,
                   COALESCE(lead(m.counts OR m.low = 'of') OVER sequence, false) AS goes_on,
                   -- The shared word that this one is put to: dog before "allergy", sick before "of meetings".
                   CASE WHEN lag(m.is_shared) OVER sequence THEN lag(m.same) OVER sequence
                        WHEN lag(m.is_shared, 2) OVER sequence
                             AND (lag(m.low) OVER sequence = 'of' OR (lag(m.low) OVER sequence, m.low) = ('in', 'law'))
                        THEN lag(m.same, 2) OVER sequence
                        WHEN lag(m.is_shared, 3) OVER sequence AND lag(m.low, 2) OVER sequence = 'of' AND lag(m.kind) OVER sequence = 'stop'
                        THEN lag(m.same, 3) OVER sequence END AS head
            FROM flagged m
            WINDOW sequence AS (PARTITION BY m.is_new ORDER BY m.place)
        ), owner AS (
            -- Whether the owned word, the next content or light word, is shared.
            SELECT b.is_new, b.place, (
                SELECT n.is_shared OR n.kind = 'light' FROM with_adjacent n
                WHERE n.is_new = b.is_new AND n.place > b.place AND (n.counts OR n.kind = 'light')
                ORDER BY n.place LIMIT 1
            ) AS owns_shared
            FROM with_adjacent b
            WHERE b.is_possessive
        ), verb AS (
            -- The end of the subject, in texts that mark it with the same function words.
            SELECT w.is_new, min(w.place) AS place
            FROM word w
            WHERE lower(w.word) IN ('is', 'are', 'was', 'were', 'has', 'have', 'had', 'will', 'can', 'must', 'may', 'should', 'does', 'do')
            GROUP BY w.is_new
        ), narrowed AS (
            SELECT b.is_new, count(*) AS words
            FROM with_adjacent b
            LEFT JOIN verb v ON v.is_new = b.is_new AND (SELECT count(*) FROM verb) = 2
            WHERE b.kind = 'content' AND NOT b.is_shared
              AND (b.place < v.place
                   OR (SELECT n.is_shared AND n.kind = 'content' FROM with_adjacent n
                       WHERE n.is_new = b.is_new AND n.place > b.place
                         AND (n.counts OR n.kind = 'break' OR n.low = ANY (clauses))
                       ORDER BY n.place LIMIT 1)
                   OR (b.head IS NOT NULL AND b.low NOT IN ('named', 'called') AND NOT EXISTS (
                       SELECT FROM with_adjacent o WHERE o.is_new <> b.is_new AND o.same = b.head AND o.counts AND o.goes_on
                   )))
            GROUP BY b.is_new
        ), mark AS (
            SELECT b.is_new, b.place, b.counts AND NOT b.is_shared AS is_extra, '|' || translate(
                CASE WHEN b.kind = 'negation' THEN 'not'
                     WHEN b.counts THEN b.same || CASE WHEN b.low ~ 'ed$' AND b.stem !~ 'ed$' THEN '+ed' ELSE '' END
                     ELSE COALESCE(f.form, b.low)
                END, E'\\%_', '///') || '|' AS mark
            FROM with_adjacent b
            LEFT JOIN (VALUES
                ('am', 'is'), ('are', 'is'), ('were', 'was'), ('has', 'have'), ('i''m', 'i||is'), ('you''re', 'you||is'),
                ('we''re', 'we||is'), ('they''re', 'they||is'), ('he''s', 'he||is'), ('she''s', 'she||is'), ('it''s', 'it||is')
            ) f (low, form) ON f.low = b.low
            WHERE b.kind <> 'break' AND (b.counts OR b.kind = 'negation' OR b.low <> ALL (fillers))
        ), kept AS (
            SELECT m.is_new, string_agg(m.mark, '' ORDER BY m.place) AS marks,
                   '%' || string_agg(m.mark, '%' ORDER BY m.place) FILTER (WHERE NOT m.is_extra) || '%' AS wanted
            FROM mark m
            GROUP BY m.is_new
        ), sign AS (
            SELECT t.is_new, ARRAY(
                SELECT s.found[1] FROM regexp_matches(t.content, signs, 'g') s (found)
            ) AS found
            FROM (VALUES (false, old_text), (true, new_text)) t (is_new, content)
        ), first AS (
            SELECT DISTINCT ON (b.is_new) b.is_new, b.is_shared FROM with_adjacent b WHERE b.counts ORDER BY b.is_new, b.place
        ), name AS (
            SELECT o.stem, min(o.place) AS old_place, min(n.place) AS new_place
            FROM flagged o
            JOIN flagged n ON n.is_new AND n.stem = o.stem AND n.is_name
            WHERE NOT o.is_new AND o.is_name AND o.counts
            GROUP BY o.stem
        )
        SELECT jsonb_build_object(
            'shared', count(*) FILTER (WHERE b.is_new AND b.is_shared),
            'gone', count(*) FILTER (WHERE NOT b.is_new AND b.counts AND NOT b.is_shared),
            'added', count(*) FILTER (WHERE b.is_new AND b.counts AND NOT b.is_shared),
            'names_gone', count(*) FILTER (WHERE NOT b.is_new AND b.counts AND NOT b.is_shared AND b.is_name),
            'names_added', count(*) FILTER (WHERE b.is_new AND b.counts AND NOT b.is_shared AND b.is_name),
            'numbers_gone', count(*) FILTER (WHERE NOT b.is_new AND b.kind = 'number' AND NOT b.is_shared),
            'numbers_added', count(*) FILTER (WHERE b.is_new AND b.kind = 'number' AND NOT b.is_shared),
            'narrows_old', COALESCE((SELECT n.words FROM narrowed n WHERE NOT n.is_new), 0),
            'narrows_new', COALESCE((SELECT n.words FROM narrowed n WHERE n.is_new), 0),
            'owns_old', (SELECT count(*) FROM owner o WHERE NOT o.is_new AND NOT COALESCE(o.owns_shared, true)),
            'owns_new', (SELECT count(*) FROM owner o WHERE o.is_new AND NOT COALESCE(o.owns_shared, true)),
            'leads_old', COALESCE((SELECT f.is_shared FROM first f WHERE NOT f.is_new), false),
            'leads_new', COALESCE((SELECT f.is_shared FROM first f WHERE f.is_new), false),
            'is_turned', EXISTS (
                SELECT FROM name a JOIN name b ON a.old_place < b.old_place AND a.new_place > b.new_place
            ),
            'is_moved', (
                SELECT array_agg(m.mark ORDER BY m.place) FILTER (WHERE m.is_new)
                       IS DISTINCT FROM array_agg(m.mark ORDER BY m.place) FILTER (WHERE NOT m.is_new)
                FROM mark m
                WHERE m.mark <> ALL (ARRAY['|not|', '|is|', '|was|', '|have|', '|had|', '|did|', '|can|', '|will|', '|would|'])
            ),
            'keeps_old', COALESCE((
                SELECT n.marks LIKE o.wanted FROM kept o JOIN kept n ON n.is_new AND NOT o.is_new
            ) AND (SELECT o.found <@ n.found FROM sign o JOIN sign n ON n.is_new AND NOT o.is_new), false),
            'keeps_new', COALESCE((
                SELECT o.marks LIKE n.wanted FROM kept o JOIN kept n ON n.is_new AND NOT o.is_new
            ) AND (SELECT n.found = o.found FROM sign o JOIN sign n ON n.is_new AND NOT o.is_new), false),
            'swaps', (
                SELECT count(*) FROM with_adjacent o JOIN with_adjacent n ON n.is_new AND NOT o.is_new
                WHERE o.counts AND n.counts AND NOT o.is_shared AND NOT n.is_shared
                  AND ((o.left_stem = n.left_stem AND o.right_stem IS NOT DISTINCT FROM n.right_stem)
                       OR (o.right_stem = n.right_stem AND o.left_stem IS NOT DISTINCT FROM n.left_stem))
            ),
            'is_negated_old', bool_or(NOT b.is_new AND b.kind = 'negation'),
            'is_negated_new', bool_or(b.is_new AND b.kind = 'negation'),
            'is_hedged_old', bool_or(NOT b.is_new AND b.low = ANY (hedges)),
            'is_hedged_new', bool_or(b.is_new AND b.low = ANY (hedges))
        )
        FROM with_adjacent b
    );
END
$function$;
