-- Ranks the memories of several namespaces in one list: those of each by rank_distinct(), then all by score.
--
-- Scores of different namespaces compare, because resolve_requests() gives them one yardstick. Everything else that raises a
-- score (links, neighbours in a session, a newer statement) stays within its namespace. With fusion rrf there are only ranks
-- to compare: the first of each namespace come first. Memories of one namespace keep their order: what rank_distinct() places
-- behind a memory counts at most as that.
--
-- names      of the namespaces
-- requests   one for each, from resolve_requests()
-- weights    what scores are multiplied by, by name: {"team": 0.5}; NULL or not there: 1
-- extra_ids  memories to return in any case, with place NULL if they are not among the k best
--
-- owner  the place of its request
CREATE OR REPLACE FUNCTION _pgrecall.rank_across(
    names text[], requests pgrecall.recall_request[], weights jsonb, filter pgrecall.recall_filter, reference_time timestamptz,
    extra_ids bigint[] DEFAULT NULL
)
RETURNS TABLE (line pgrecall.ranked, place integer, score double precision, owner integer)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    request pgrecall.recall_request;
    settings pgrecall.recall_settings;
    lines pgrecall.ranked[] := '{}'::pgrecall.ranked[];
    owners integer[] := '{}'::integer[];
BEGIN
    FOR namespace IN 1..cardinality(requests) LOOP
        request := requests[namespace];
        CONTINUE WHEN request.namespace_id IS NULL;
        filter.referring := _pgrecall.referring_memories(request.namespace_id, filter.timeframe);
        settings := request.settings;
        lines := lines || ARRAY(
            SELECT r FROM _pgrecall.rank_distinct(request, filter, rank_across.reference_time, extra_ids) r
        );
        owners := owners || array_fill(namespace, ARRAY[cardinality(lines) - cardinality(owners)]);
    END LOOP;
    RETURN QUERY
        WITH weighted AS (
            SELECT u.line, (u.line).id, (u.line).place, u.owner,
                   (u.line).score * COALESCE((weights ->> names[u.owner])::double precision, 1) AS score
            FROM (SELECT l AS line, owners[row_number() OVER ()] AS owner FROM unnest(lines) l) u
        ), leveled AS (
            SELECT w.id, w.place, min(
                       CASE settings.sort_by
                           WHEN 'importance' THEN m.importance
                           WHEN 'recency' THEN EXTRACT(epoch FROM COALESCE(m.occurred_at, m.created_at))
                           ELSE w.score
                       END
                   ) OVER (PARTITION BY w.owner ORDER BY w.place) AS level
            FROM weighted w
            JOIN pgrecall.memories m ON m.id = w.id
            WHERE w.place IS NOT NULL
        ), placed AS (
            SELECT l.id, row_number() OVER (ORDER BY l.level DESC, l.place, l.id) AS place FROM leveled l
        )
        SELECT w.line, p.place::integer, w.score, w.owner
        FROM weighted w
        LEFT JOIN placed p ON p.id = w.id AND p.place <= settings.k
        WHERE p.id IS NOT NULL OR w.id = ANY (extra_ids)
        ORDER BY p.place;
END
$function$;
