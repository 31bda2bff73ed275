-- Locks what supersedes some memories, and what supersedes that, outside READ COMMITTED.
--
-- An older snapshot does not see that one of them has been superseded since, and could close a circle: to lock a row that has
-- changed fails there, with 40001. Under READ COMMITTED the next statement sees it, and _pgrecall.serialize_imports() suffices.
CREATE OR REPLACE FUNCTION _pgrecall.lock_successors(memory_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM FROM pgrecall.memories m
        WHERE m.id IN (
            WITH RECURSIVE later (id) AS (
                SELECT unnest(memory_ids)
                UNION
                SELECT s.superseded_by FROM later p JOIN pgrecall.memories s ON s.id = p.id
            )
            SELECT p.id FROM later p
        )
        ORDER BY m.id
        FOR NO KEY UPDATE;
    END IF;
END
$function$;
