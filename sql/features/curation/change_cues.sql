-- Finds signs that a text reports a change of what another text states. For curation by rules; English only.
--
-- Each sign requires the same subject and an attribute that has one value at a time. Statements that can both be true
-- (another taste, another occasion, another item of a kind) give no sign.
--
-- ends      no longer true: "no longer works for …", "gave up …"
-- moves     somebody who lived in one place has moved to another
-- replaces  another name holds the same office or attribute: "X is the lead of …", "the code name of … is X"
-- counts    the same with another number: "has 42 members"; no date, year or number used as a name (ticket 311)
-- alters    "was upgraded to …", "the … name of … is now …"
CREATE OR REPLACE FUNCTION _pgrecall.change_cues(old_text text, new_text text, compared jsonb)
RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    longest CONSTANT integer := 2000;
    month CONSTANT text := '(january|february|march|april|may|june|july|august|september|october|november|december|spring|summer'
                           '|autumn|fall|winter)';
    attribute CONSTANT text := '\m(code ?name|nickname|name|lead|head|owner|maintainer|manager|director|ceo|cto|boss|chair'
                               '|president|captain|mayor|capital|birthplace|employer|landlord|deadline|port|version)\M';
    old_folded text := lower(translate(old_text, '’‘', ''''''));
    new_folded text := lower(translate(new_text, '’‘', ''''''));
    old_stems text[];
    part text[];
    subject text[];
    old_subject text[];
    rest text[];
    ends boolean := false;
    moves boolean := false;
    replaces boolean := false;
    counts boolean := false;
    alters boolean := false;
BEGIN
    IF length(old_text) > longest OR length(new_text) > longest THEN
        RETURN '{}'::jsonb;
    END IF;
    old_stems := _pgrecall.content_stems(old_text);

    part := COALESCE(
        regexp_match(new_folded, '^(.*?)\m(?:no longer|gave up|has given up|have given up|broke off|'
        'stopped(?= \w+ing\M)|quit(?= \w+ing\M))\s+'
            '(.*?)(?:[,;.:!?()]|\m(?:since|after|because|when|as|due|last|this|in (?:the )?(?:' || month || '|[0-9]{4})'
            '|on (?:mon|tues|wednes|thurs|fri|satur|sun)day)\M|$)'),
        regexp_match(new_folded, '^(.*?)\m(?:does|do|is|are|can|will)(?:n''t| not)\s+(.*?)\m(?:any ?more|any longer)\M')
    );
    IF part IS NOT NULL AND old_folded !~ '\m(no longer|any ?more|gave up|given up|broke off|stopped|quit)\M'
       AND NOT (compared -> 'is_negated_old')::boolean THEN
        subject := _pgrecall.content_stems(part[1]);
        rest := _pgrecall.content_stems(part[2]);
        ends := cardinality(subject) > 0 AND cardinality(rest) > 0 AND subject || rest <@ old_stems
                AND old_stems[1] = ANY (subject) AND (compared -> 'owns_old')::integer = 0
                AND part[1] !~ '[,;.:!?()]';
    END IF;

    part := regexp_match(new_text, '^(.*?)\m(?:has |have |had |just |recently )*(?:moved|relocated) (?:\w+ )?to [[:upper:]]');
    IF part IS NOT NULL THEN
        subject := _pgrecall.content_stems(part[1]);
        old_subject := _pgrecall.content_stems(
            (regexp_match(old_text, '^(.*?)\m(?:lives?|resides?|is based|are based|is located|are located) in [[:upper:]]'))[1]
        );
        moves := cardinality(subject) > 0 AND subject = old_subject AND part[1] !~ '[,;.:!?()]';
    END IF;

    IF (compared -> 'gone')::integer = 1 AND (compared -> 'added')::integer = 1
       AND (compared -> 'names_gone')::integer = 1 AND (compared -> 'names_added')::integer = 1
       AND (compared -> 'shared')::integer >= 2 AND old_folded ~ attribute AND new_folded ~ attribute
       AND (compared -> 'owns_old')::integer + (compared -> 'owns_new')::integer = 0 THEN
        -- The name that differs is the holder: "X is the …", "… is X", "…: X".
        SELECT count(*) = 2 INTO replaces
        FROM (VALUES (old_text, new_text), (new_text, old_text)) t (content, other)
        CROSS JOIN LATERAL (
            SELECT w.word FROM _pgrecall.tokenize_text(t.content) w
            WHERE w.kind = 'content' AND w.stem <> ALL (_pgrecall.content_stems(t.other)) LIMIT 1
        ) name
        WHERE t.content ~ ('^(Now |The )?' || regexp_replace(name.word, '([^[:alnum:]])', '\\\1', 'g')
              || ' (is|has become|became) (now )?the\M')
           OR t.content ~ ('(\m(is|is now|named|called)|:) ' || regexp_replace(name.word, '([^[:alnum:]])', '\\\1', 'g') || '[.!]?$');
    END IF;

    IF (compared -> 'numbers_gone')::integer = 1 AND (compared -> 'numbers_added')::integer = 1
       AND (compared -> 'gone')::integer = 1 AND (compared -> 'added')::integer = 1
       AND (compared -> 'narrows_old')::integer + (compared -> 'narrows_new')::integer = 0
       AND (compared -> 'shared')::integer >= 2 AND (compared -> 'leads_old')::boolean AND (compared -> 'leads_new')::boolean
       AND old_folded || ' ' || new_folded !~ '\m(was|were|had|did|went|came|took|ran|bought|sold|met|got|made|won|lost|paid|\w+ed)\M'
       AND old_folded || ' ' || new_folded !~ ('\m(' || month || '|(mon|tues|wednes|thurs|fri|satur|sun)days?'
           '|today|tomorrow|yesterday|next|last)\M')
    THEN
        SELECT count(*) = 2 AND bool_and(n.is_a_count) INTO counts
        FROM (VALUES (old_text, new_text), (new_text, old_text)) t (content, other)
        CROSS JOIN LATERAL (
            SELECT x.word ~ '^[0-9]+([.][0-9]+)?$' AND x.word !~ '^(19|20)[0-9]{2}$'
                   AND x.left_kind IN ('stop', 'break') AND x.right_kind = 'content' AS is_a_count
            FROM (
                SELECT w.stem AS word, w.kind, lag(w.kind) OVER (ORDER BY w.place) AS left_kind,
                       lead(w.kind) OVER (ORDER BY w.place) AS right_kind
                FROM _pgrecall.tokenize_text(t.content) w
            ) x
            WHERE x.kind = 'number' AND x.word <> ALL (_pgrecall.content_stems(t.other))
        ) n;
    END IF;

    part := regexp_match(new_folded, '^(.*?)\m(?:is|are) now\M(.*)$');
    IF part IS NOT NULL AND part[1] ~ attribute THEN
        subject := _pgrecall.content_stems(part[1]);
        old_subject := _pgrecall.content_stems((regexp_match(old_folded, '^(.*?)\m(?:is|are)\M'))[1]);
        alters := cardinality(subject) >= 2 AND subject <@ old_subject AND cardinality(old_subject) <= cardinality(subject) + 1;
    END IF;
    part := regexp_match(
        new_folded, '^(.*?)\m(?:was|were|has been|have been|got)(?: \w+ly| now| just)? '
        '(?:upgraded|updated|switched|migrated|renamed|increased|raised|reduced|lowered|extended|shortened) (?:\w+ ){0,3}?to\M(.*)$'
    );
    IF part IS NOT NULL AND NOT alters THEN
        subject := _pgrecall.content_stems(part[1]);
        rest := _pgrecall.content_stems(part[2]);
        alters := cardinality(subject) >= 2 AND subject <@ old_stems AND old_stems[1] = subject[1]
                  AND part[1] !~ '[,;.:!?()]' AND (compared -> 'owns_old')::integer = 0
                  AND EXISTS (SELECT FROM unnest(rest) r (stem) WHERE r.stem ~ '[[:alpha:]]' AND r.stem = ANY (old_stems));
    END IF;
    RETURN jsonb_build_object(
        'ends', COALESCE(ends, false), 'moves', COALESCE(moves, false), 'replaces', COALESCE(replaces, false),
        'counts', COALESCE(counts, false), 'alters', COALESCE(alters, false)
    );
END
$function$;
