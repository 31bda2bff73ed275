-- Returns every version of a memory, and of those that it superseded or that superseded it, oldest first: what changed,
-- when, and by which role. Read-only.
--
-- These are the memories that it superseded, or that superseded it.
--
-- memory_id   which of them changed
-- action      remember (stored), update, supersede, unsupersede (a supersession was undone), forget, expire or restore
-- changed_at  when
-- role        the role that did it; NULL for remember, and for changes before the history was kept
-- curation    number of the decision, for undo_curation(), if curation did it
-- content     the text after the change; NULL if it is no longer kept
-- before, after  the changed fields; NULL for remember
--
-- include_sensitive  false leaves out sensitive memories, and what a memory was while it was sensitive
--
-- Returns the last 1,000 versions, and long values only within the last 4 MB of them. Of each memory the last 500 changes are
-- kept, and long values within 2 MB: of older ones, before and after only name the fields.
--
-- Errors  P0002 no such memory
CREATE OR REPLACE FUNCTION public.memory_history(id bigint, include_sensitive boolean DEFAULT true)
RETURNS TABLE (
    memory_id bigint, action text, changed_at timestamptz, role text, curation bigint, content text, before jsonb, after jsonb
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT SET extra_float_digits = 1
AS $function$
#variable_conflict use_column
DECLARE
    most_versions CONSTANT integer := 1000;
    most_bytes CONSTANT integer := 4194304;
BEGIN
    IF NOT EXISTS (
        SELECT FROM pgrecall.memories m WHERE m.id = (SELECT _pgrecall.seen_id('memory', memory_history.id))
          AND (include_sensitive OR NOT m.is_sensitive)
    ) THEN
        PERFORM _pgrecall.raise_unknown_memory(memory_history.id);
    END IF;
    RETURN QUERY
        WITH RECURSIVE line (id) AS (
            SELECT memory_history.id
            UNION
            SELECT n.id
            FROM line l
            CROSS JOIN LATERAL (
                SELECT m.superseded_by FROM pgrecall.memories m WHERE m.id = l.id AND m.superseded_by IS NOT NULL
                UNION ALL
                SELECT m.id FROM pgrecall.memories m WHERE m.superseded_by = l.id
            ) n (id)
        ), versions AS (
            SELECT m.id AS memory_id, 0::bigint AS number, 0 AS bytes, 'remember' AS action, m.created_at AS changed_at, NULL::text AS role,
                   NULL::bigint AS curation, NULL::jsonb AS before, NULL::jsonb AS after
            FROM line l
            JOIN pgrecall.memories m ON m.id = l.id
            UNION ALL
            -- In the order of time: an import brings old changes after newer ones.
            SELECT c.memory_id, row_number() OVER (PARTITION BY c.memory_id ORDER BY c.changed_at, c.id), c.bytes, c.action, c.changed_at,
                   c.role,
                   -- Both are written in one transaction.
                   (SELECT max(d.id) FROM pgrecall.curations d
                    WHERE c.action = 'supersede' AND d.decided_at = c.changed_at
                      AND (d.memory_id = c.memory_id OR d.other_id = c.memory_id)),
                   c.before, c.after
            FROM line l
            JOIN pgrecall.memory_changes c ON c.memory_id = l.id
        )
        SELECT v.memory_id, v.action, v.changed_at, v.role, v.curation,
               CASE WHEN v.so_far <= most_bytes THEN v.content END,
               CASE WHEN NOT include_sensitive AND v.before @> '{"is_sensitive": true}' THEN NULL
                    WHEN v.so_far <= most_bytes THEN v.before ELSE _pgrecall.without_texts(v.before) END,
               CASE WHEN v.so_far <= most_bytes THEN v.after ELSE _pgrecall.without_texts(v.after) END
        FROM (
            SELECT v.*, t.content,
                   sum(v.bytes + octet_length(t.content)) OVER (ORDER BY v.changed_at DESC, v.memory_id DESC, v.number DESC) AS so_far
            FROM versions v
            JOIN pgrecall.memories m ON m.id = v.memory_id
            CROSS JOIN LATERAL (
                -- The text before the next change of it, or else the current one; NULL: no longer kept.
                (SELECT n.before ->> 'content' AS content, n.number FROM versions n
                 WHERE n.memory_id = v.memory_id AND n.number > v.number AND n.before ? 'content'
                 ORDER BY n.number LIMIT 1)
                UNION ALL
                SELECT m.content, NULL
                ORDER BY 2 NULLS LAST
                LIMIT 1
            ) t
            WHERE include_sensitive OR NOT m.is_sensitive AND NOT EXISTS (
                SELECT FROM versions n WHERE n.memory_id = v.memory_id AND n.number > v.number AND n.before @> '{"is_sensitive": true}'
            )
            ORDER BY v.changed_at DESC, v.memory_id DESC, v.number DESC
            LIMIT most_versions
        ) v
        ORDER BY v.changed_at, v.memory_id, v.number;
END
$function$;

ALTER FUNCTION public.memory_history OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.memory_history FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.memory_history TO pgrecall_reader;
