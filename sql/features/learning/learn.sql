-- Finds settings that suit a namespace, from its judged queries and feedback. Adopts them only if they help.
--
-- Learns from one half of the queries and measures on the other, both ways round. The gain in nDCG@10 is the mean over
-- all queries; if its 95 % interval is above 0, the settings learned from all queries apply to every recall in the
-- namespace from then on. A setting that the caller, the session or a profile gives still takes precedence.
--
-- Learns nothing from fewer than 40 judged queries. Takes some 60 recalls for each of the newest 300: one to three
-- minutes. Call it when feedback has grown, for instance weekly. Settings in force are first reviewed as
-- recall_feedback() does.
--
-- namespace  NULL: the setting pgrecall.namespace, else 'default'
-- dry_run    true: measure, and change nothing
--
-- is_adopted   whether the settings apply now
-- settings     what it found from all queries, adopted or not: the settings that differ from those in force without it
-- queries      number of queries it can learn from
-- ndcg_before  their mean nDCG@10 without the settings;  ndcg_after  with those learned from the other half
-- gain_low, gain_high  the 95 % interval of the difference. These four are NULL if there are fewer than 40 queries
--
-- Errors  42704 no such namespace;  42501 read-only for this role
CREATE OR REPLACE FUNCTION pgrecall.learn(namespace text DEFAULT NULL, dry_run boolean DEFAULT false)
RETURNS TABLE (
    is_adopted boolean, settings jsonb, queries integer, ndcg_before double precision, ndcg_after double precision,
    gain_low double precision, gain_high double precision
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    fewest CONSTANT integer := 40;
    home CONSTANT integer := _pgrecall.writable_namespace(learn.namespace);
    base CONSTANT jsonb := _pgrecall.base_settings();
    query_ids text[];
    first_half text[];
    second_half text[];
BEGIN
    IF NOT dry_run THEN
        PERFORM _pgrecall.review_learning(home);
    END IF;
    SELECT array_agg(t.query_id), array_agg(t.query_id) FILTER (WHERE t.half = 0), array_agg(t.query_id) FILTER (WHERE t.half = 1)
    INTO query_ids, first_half, second_half
    FROM _pgrecall.training_queries(home) t;
    queries := COALESCE(cardinality(query_ids), 0);
    IF queries < fewest THEN
        is_adopted := false;
        settings := '{}'::jsonb;
        RETURN NEXT;
        RETURN;
    END IF;

    SELECT x.before, x.after, g.low, g.high INTO ndcg_before, ndcg_after, gain_low, gain_high
    FROM (
        SELECT avg(b.ndcg_at_10) AS before, avg(a.ndcg_at_10) AS after, array_agg(a.ndcg_at_10 - b.ndcg_at_10) AS gains
        FROM _pgrecall.query_scores(home, query_ids, base) b
        JOIN (
            SELECT s.query_id, s.ndcg_at_10
            FROM _pgrecall.query_scores(home, first_half, base || _pgrecall.search_settings(home, second_half, base)) s
            UNION ALL
            SELECT s.query_id, s.ndcg_at_10
            FROM _pgrecall.query_scores(home, second_half, base || _pgrecall.search_settings(home, first_half, base)) s
        ) a ON a.query_id = b.query_id
    ) x
    CROSS JOIN LATERAL _pgrecall.gain_interval(x.gains) g;
    settings := _pgrecall.search_settings(home, query_ids, base);
    is_adopted := gain_low > 0 AND settings <> '{}' AND NOT dry_run;
    IF is_adopted THEN
        PERFORM _pgrecall.lock_namespace(home);
        UPDATE pgrecall.learned_settings l SET ended_at = clock_timestamp(), end_reason = 'replaced'
        WHERE l.namespace_id = home AND l.ended_at IS NULL;
        INSERT INTO pgrecall.learned_settings (
            namespace_id, settings, queries, ndcg_before, ndcg_after, gain_low, gain_high, learned_at
        )
        VALUES (home, settings, queries, ndcg_before, ndcg_after, gain_low, gain_high, clock_timestamp());
    END IF;
    RETURN NEXT;
END
$function$;

ALTER FUNCTION pgrecall.learn OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.learn TO pgrecall_writer;
