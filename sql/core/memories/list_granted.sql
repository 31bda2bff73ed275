-- Returns the ids of a page of memories, as pgrecall_engine, in a namespace that the session's role may read.
--
-- As the engine, because row-level security would keep the filters from their indexes (rank_granted says why).
-- list_memories() reads the texts, under the policies. The statement is planned with its arguments (EXECUTE): a page
-- without filters reads memories_namespace_time_idx from its first row on. The columns of texts have no statistics, so the planner
-- cannot know that a session is short: at most 10,000 memories of the asked sessions are read and sorted, before the index by
-- time is tried.
--
-- is_writing    check the right to write
-- forgotten     list forgotten memories instead; expired ones among them. NULL: memories in every state, for erase_many()
-- after_time, after_id  the place of the last memory of the page before; NULL: the first page
-- max_results   NULL: all
CREATE OR REPLACE FUNCTION _pgrecall.list_granted(
    namespace_id integer, filter pgrecall.recall_filter, forgotten boolean, oldest_first boolean,
    after_time timestamptz, after_id bigint, max_results integer, is_writing boolean DEFAULT false
)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    short_session CONSTANT integer := 10000;
    is_short boolean := false;
BEGIN
    IF NOT _pgrecall.sees_namespace(pgrecall.session_role(), namespace_id, is_writing) THEN
        RETURN;
    END IF;
    -- What was superseded or over when it was forgotten is forgotten, too.
    filter.include_superseded := filter.include_superseded OR COALESCE(forgotten, false);
    IF filter.sessions IS NOT NULL AND forgotten IS FALSE THEN
        SELECT count(*) <= short_session INTO is_short
        FROM (
            SELECT FROM pgrecall.memories m
            WHERE m.namespace_id = list_granted.namespace_id AND m.session = ANY (filter.sessions)
            LIMIT short_session + 1
        ) counted;
    END IF;
    RETURN QUERY EXECUTE format(
        $statement$
            SELECT m.id
            FROM pgrecall.memories m
            WHERE m.namespace_id = $1 AND %1$s
              AND ($3 IS NULL OR (COALESCE(m.occurred_at, m.created_at), m.id) %2$s ($3, $4))
            ORDER BY COALESCE(m.occurred_at, m.created_at) %4$s %3$s, m.id %3$s
            LIMIT $5
        $statement$,
        CASE
            WHEN NOT forgotten THEN '_pgrecall.matches_filter(m, $2)'
            -- The filter as if it were neither forgotten nor expired.
            ELSE CASE WHEN forgotten THEN 'm.deleted_at IS NOT NULL AND ' ELSE '' END
                 || '_pgrecall.matches_filter(jsonb_populate_record(m, ''{"deleted_at": null, "expires_at": null}''), $2)'
        END,
        CASE WHEN oldest_first THEN '>' ELSE '<' END,
        CASE WHEN oldest_first THEN 'ASC' ELSE 'DESC' END,
        -- Adding nothing keeps the planner from the index by time.
        CASE WHEN is_short THEN '+ interval ''0''' ELSE '' END
    )
    USING namespace_id, _pgrecall.with_keys(namespace_id, filter), after_time, after_id, max_results;
END
$function$;

ALTER FUNCTION _pgrecall.list_granted OWNER TO pgrecall_engine;
