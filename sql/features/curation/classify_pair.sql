-- Classifies a pair of memories by rules: NOOP, UPDATE, SUPERSEDE, or ADD if in doubt.
--
-- The cosine alone never decides: "Project Marlin uses PostgreSQL 15" and "Project Marten uses PostgreSQL 16" are
-- nearer to each other than most paraphrases. It can only confirm or veto what the words show.
--
-- A less trusted memory never supersedes a more trusted one. What would be UPDATE or SUPERSEDE is ADD then. The same text of a more
-- trusted origin supersedes the older memory (UPDATE) instead of being superseded by it.
--
-- A memory that a filter would not find in the place of the other never supersedes it: whose it is may stand in its metadata.
--
-- NOOP       the same text; or the new text has no additional word; or almost none, with a cosine of 0.9
-- UPDATE     the new text has every word of the old one, and more
-- SUPERSEDE  the same words with a negation added or removed; or one of change_cues()
--
-- Words are compared in their order, with what little words and signs stand around them: "trains to planes" is not "planes to
-- trains", nor "liked" "likes", nor "from" "to", nor -5 5. A question is not its answer.
CREATE OR REPLACE FUNCTION _pgrecall.classify_pair(evidence jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT CASE
        WHEN c.decision IN ('UPDATE', 'SUPERSEDE') AND (e.is_less_trusted OR NOT e.covers_old) THEN 'ADD'
        WHEN c.decision = 'NOOP' AND (e.is_more_trusted OR NOT e.covers_new)
            THEN CASE WHEN e.is_equal AND COALESCE(e.covers_old AND NOT e.is_less_trusted, true) THEN 'UPDATE' ELSE 'ADD' END
        ELSE c.decision
    END
    FROM jsonb_to_record(evidence) e (
        cosine double precision, is_equal boolean, shared integer, gone integer, added integer,
        names_gone integer, names_added integer, numbers_gone integer, numbers_added integer,
        narrows_old integer, narrows_new integer, owns_old integer, owns_new integer, leads_old boolean, leads_new boolean,
        is_turned boolean, is_moved boolean, keeps_old boolean, keeps_new boolean,
        asks_old boolean, asks_new boolean, swaps integer, is_negated_old boolean, is_negated_new boolean,
        is_hedged_old boolean, is_hedged_new boolean,
        ends boolean, moves boolean, replaces boolean, counts boolean, alters boolean,
        is_other_subject boolean, is_other_time boolean, is_other_speaker boolean, is_earlier boolean,
        is_less_trusted boolean, is_more_trusted boolean, covers_old boolean, covers_new boolean
    )
    CROSS JOIN LATERAL (SELECT CASE
        WHEN e.is_other_subject OR e.is_other_time OR e.is_other_speaker OR e.asks_old <> e.asks_new THEN 'ADD'
        WHEN e.is_equal THEN 'NOOP'
        WHEN e.shared IS NULL OR e.cosine < 0.5 OR e.is_turned OR e.is_hedged_old <> e.is_hedged_new THEN 'ADD'
        WHEN e.is_earlier AND e.added > 0 THEN 'ADD'
        WHEN e.ends OR e.moves OR e.replaces OR e.counts OR e.alters THEN CASE WHEN e.is_earlier THEN 'ADD' ELSE 'SUPERSEDE' END
        WHEN e.shared < 2 OR e.owns_old + e.owns_new > 0 THEN 'ADD'
        WHEN e.is_negated_old <> e.is_negated_new
            THEN CASE WHEN e.gone = 0 AND e.added = 0 AND NOT (e.is_earlier OR e.is_moved) THEN 'SUPERSEDE' ELSE 'ADD' END
        -- A long text contains every word of many short ones.
        WHEN greatest(e.gone, e.added) > 4 * e.shared THEN 'ADD'
        WHEN e.added = 0 AND e.narrows_old = 0 AND e.leads_old AND e.keeps_new THEN 'NOOP'
        WHEN e.gone = 0 AND e.added > 0 AND e.narrows_new = 0 AND e.leads_new AND e.keeps_old THEN 'UPDATE'
        WHEN e.cosine >= 0.9 AND e.shared >= 3 AND e.keeps_new
             AND 2 * e.shared >= 3 * e.added AND e.swaps + e.narrows_old + e.narrows_new = 0
             AND e.numbers_gone + e.numbers_added + e.names_gone + e.names_added = 0 THEN 'NOOP'
        ELSE 'ADD'
    END AS decision) c
);
