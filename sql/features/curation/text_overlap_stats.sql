-- Compares two texts and returns numbers and booleans, the basis of curation by rules.
--
-- Words are equal if their English stems are; long ones also if one is a prefix of the other (deliver, deliveries), but not in scripts
-- without blanks, where a word is a clause.
-- Names and numbers must be identical. Texts of over 2,000 characters are only compared as wholes: {"is_equal": …}.
--
-- is_equal     equal except for case and punctuation
-- shared       words of the new text that the old one has;  gone, added  words of only one text, numbers included
-- names_gone, names_added, numbers_gone, numbers_added      names and numbers among those
-- narrows_old, narrows_new  words of one text that change what a shared noun refers to: staging before server
-- owns_old, owns_new        words of only one text that follow a possessive: Noor's sister
-- leads_old, leads_new      the text's first word occurs in the other text
-- is_turned    names come in another order: who owes whom
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
                                    'possibly', 'probably', 'allegedly'];
    unspaced CONSTANT text := '[' || _pgrecall.unspaced_class() || ']';
    found jsonb;
BEGIN
    found := jsonb_build_object('is_equal', _pgrecall.comparable_text(old_text) = _pgrecall.comparable_text(new_text));
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
            SELECT w.is_new, w.place, w.word, w.stem, w.kind, w.is_name, w.is_possessive, w.counts,
                   w.counts AND EXISTS (
                       SELECT FROM word o
                       WHERE o.is_new <> w.is_new AND o.kind IN ('content', 'number', 'light')
                         AND (o.stem = w.stem
                              OR (w.kind = 'content' AND o.kind = 'content' AND NOT (o.is_name AND w.is_name)
                                  AND least(length(o.stem), length(w.stem)) >= 5
                                  AND abs(length(o.stem) - length(w.stem)) <= 3 AND w.stem !~ unspaced
                                  AND (starts_with(o.stem, w.stem) OR starts_with(w.stem, o.stem))))
                   ) AS is_shared
            FROM word w
        ), with_adjacent AS MATERIALIZED (
            SELECT m.is_new, m.place, m.word, m.stem, m.kind, m.is_name, m.is_possessive, m.counts, m.is_shared,
                   lag(m.stem) OVER sequence AS left_stem, lead(m.stem) OVER sequence AS right_stem,
                   lead(m.kind) OVER sequence AS right_kind,
                   lead(m.is_shared) OVER sequence AS right_shared
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
              AND ((b.right_shared AND b.right_kind = 'content') OR b.place < v.place)
            GROUP BY b.is_new
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
            'swaps', (
                SELECT count(*) FROM with_adjacent o JOIN with_adjacent n ON n.is_new AND NOT o.is_new
                WHERE o.counts AND n.counts AND NOT o.is_shared AND NOT n.is_shared
                  AND ((o.left_stem = n.left_stem AND o.right_stem IS NOT DISTINCT FROM n.right_stem)
                       OR (o.right_stem = n.right_stem AND o.left_stem IS NOT DISTINCT FROM n.left_stem))
            ),
            'is_negated_old', bool_or(NOT b.is_new AND b.kind = 'negation'),
            'is_negated_new', bool_or(b.is_new AND b.kind = 'negation'),
            'is_hedged_old', bool_or(NOT b.is_new AND lower(b.word) = ANY (hedges)),
            'is_hedged_new', bool_or(b.is_new AND lower(b.word) = ANY (hedges))
        )
        FROM with_adjacent b
    );
END
$function$;
