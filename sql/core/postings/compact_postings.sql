-- Tidies a part of the postings that changes have scattered. Returns how much it did: 0 if nothing is left to do.
--
-- A daemon calls it in the background until it returns 0. Each call does one of these, in the first namespace that needs it:
--
--   1. separates the postings of the past where an upgrade left them together: one rebuild, at once if nothing is over
--   2. moves memories whose time has come to the postings of the past
--   3. after many changes, writes the next scattered lists of terms anew: in order, in as few blocks as possible
--
-- A list is scattered if it has many more blocks than it needs, or many that overlap: recall then reads more of them. Shorter
-- ones are left alone, as writing anew leaves dead rows. Writers and recalls continue
-- meanwhile. A namespace whose postings another transaction writes is left for the next time.
--
-- max_terms  how many terms to look at in one call
CREATE OR REPLACE FUNCTION pgrecall.compact_postings(max_terms integer DEFAULT 1000)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    home record;
    terms text[];
    scattered text[];
    done bigint;
BEGIN
    LOCK TABLE pgrecall.memories IN ACCESS SHARE MODE;  -- first, in the lock order of TRUNCATE
    FOR home IN
        SELECT s.namespace_id AS id, s.separated_at IS NULL AS is_mixed, o.is_due
        FROM pgrecall.posting_states s
        CROSS JOIN LATERAL (
            SELECT EXISTS (SELECT FROM _pgrecall.newly_past(s.namespace_id, s.separated_at)) AS is_due
        ) o
        WHERE s.separated_at IS NULL OR o.is_due
        ORDER BY s.namespace_id
    LOOP
        IF NOT _pgrecall.try_lock_postings(home.id) THEN
            CONTINUE;
        ELSIF home.is_mixed AND NOT EXISTS (
            SELECT FROM pgrecall.memories m WHERE m.namespace_id = home.id AND m.superseded_by IS NOT NULL AND m.deleted_at IS NULL
        ) THEN
            -- What has ended without a successor is moved by the next call.
            UPDATE pgrecall.posting_states s SET separated_at = '-infinity' WHERE s.namespace_id = home.id;
            RETURN 1::bigint;
        ELSIF home.is_mixed THEN
            PERFORM _pgrecall.rebuild_postings(home.id);
            RETURN 1::bigint;
        END IF;
        done := _pgrecall.flush_pending(home.id);
        IF done > 0 THEN
            RETURN done;
        END IF;
    END LOOP;

    FOR home IN
        SELECT s.namespace_id AS id, COALESCE(s.compacted_to, '') AS reached, s.compacted_to IS NULL AS is_first
        FROM pgrecall.posting_states s
        WHERE s.compacted_to IS NOT NULL OR s.changes >= 1000 AND 5 * s.changes >= (
            SELECT COALESCE(sum(l.documents), 0) FROM pgrecall.term_stats l WHERE l.namespace_id = s.namespace_id AND l.term = ''
        )
        ORDER BY s.compacted_to IS NULL, s.namespace_id
    LOOP
        CONTINUE WHEN NOT _pgrecall.try_lock_postings(home.id);
        SELECT array_agg(t.term ORDER BY t.term) INTO terms
        FROM (
            SELECT DISTINCT l.term FROM pgrecall.term_stats l
            WHERE l.namespace_id = home.id AND l.term > home.reached
            ORDER BY l.term
            LIMIT max_terms
        ) t;
        SELECT array_agg(DISTINCT s.term) INTO scattered
        FROM (
            SELECT b.term
            FROM (
                SELECT t.term, p.is_past, p.memory_ids[1] AS first_id, p.top_impact, cardinality(p.memory_ids) AS size,
                       lag(p.impacts[cardinality(p.impacts)]) OVER list AS previous_impact,
                       lag(p.memory_ids[cardinality(p.memory_ids)]) OVER list AS previous_id
                FROM unnest(terms) t (term)
                CROSS JOIN LATERAL (
                    SELECT p.is_past, p.memory_ids, p.impacts, p.top_impact
                    FROM pgrecall.postings p
                    WHERE p.namespace_id = home.id AND p.term = t.term
                    OFFSET 0
                ) p
                WINDOW list AS (PARTITION BY t.term, p.is_past ORDER BY p.top_impact DESC, p.memory_ids[1])
            ) b
            GROUP BY b.term, b.is_past
            HAVING count(*) > 4 + 1.25 * ceil(sum(b.size) / 128.0)
                OR count(*) > 16 AND bool_or((b.top_impact, -b.first_id) > (b.previous_impact, -b.previous_id))
        ) s;
        IF scattered IS NOT NULL THEN
            PERFORM _pgrecall.merge_posting_blocks(home.id, scattered, true);
        END IF;
        UPDATE pgrecall.posting_states s
        SET compacted_to = CASE WHEN cardinality(terms) = max_terms THEN terms[max_terms] END,
            changes = CASE WHEN home.is_first THEN 0 ELSE s.changes END
        WHERE s.namespace_id = home.id;
        RETURN greatest(cardinality(terms), 1)::bigint;
    END LOOP;
    RETURN 0::bigint;
END
$function$;

ALTER FUNCTION pgrecall.compact_postings OWNER TO pgrecall_engine;

GRANT EXECUTE ON FUNCTION pgrecall.compact_postings TO pgrecall_embedder;
