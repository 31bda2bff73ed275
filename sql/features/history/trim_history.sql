-- Keeps the history of a memory within its limits: the last 500 changes, and the long values of the last 2 MB.
--
-- Older changes keep the names of the fields, and short values. An import brings old changes after newer ones; whatever times a file
-- gives them, they go before those noted here. It runs as pgrecall_engine: nobody else may change a history.
-- A trigger and an import call it, for the memory that they have just noted a change of.
CREATE OR REPLACE FUNCTION _pgrecall.trim_history(memory_id bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    most_changes CONSTANT integer := 500;
    most_bytes CONSTANT integer := 2097152;
BEGIN
    DELETE FROM pgrecall.memory_changes c
    WHERE c.memory_id = trim_history.memory_id AND NOT c.before ? 'is_sensitive'
      AND (c.role NOT LIKE 'imported:%', c.changed_at, c.id) < (
        SELECT o.role NOT LIKE 'imported:%', o.changed_at, o.id FROM pgrecall.memory_changes o
        WHERE o.memory_id = trim_history.memory_id
        ORDER BY 1 DESC, 2 DESC, 3 DESC
        OFFSET most_changes - 1 LIMIT 1
    );
    UPDATE pgrecall.memory_changes c
    SET before = s.before, after = s.after, bytes = octet_length(s.before::text) + octet_length(s.after::text)
    FROM (
        SELECT k.id, sum(k.bytes) OVER (ORDER BY k.role LIKE 'imported:%', k.changed_at DESC, k.id DESC) AS so_far
        FROM pgrecall.memory_changes k
        WHERE k.memory_id = trim_history.memory_id
    ) o
    JOIN pgrecall.memory_changes d ON d.id = o.id
    CROSS JOIN LATERAL (SELECT _pgrecall.without_texts(d.before) AS before, _pgrecall.without_texts(d.after) AS after) s
    WHERE o.so_far > most_bytes AND c.id = o.id AND (s.before, s.after) IS DISTINCT FROM (d.before, d.after);
END
$function$;

ALTER FUNCTION _pgrecall.trim_history OWNER TO pgrecall_engine;
