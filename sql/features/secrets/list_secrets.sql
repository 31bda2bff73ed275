-- Returns what is done with secrets in each namespace that the session's role may read, and how many memories had some, by kind.
--
-- policy, in_messages  what is done with memories, and with messages of conversations
-- found                {"jwt": 2, …}: memories in which a secret of the kind was found when they were stored or changed, whatever
--                      was done then. Refused ones are not stored and not counted, and erased ones are counted no more
CREATE OR REPLACE FUNCTION pgrecall.list_secrets()
RETURNS TABLE (namespace text, policy text, in_messages text, found jsonb)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
BEGIN ATOMIC
    -- Those of the database are looked up once, and not for thousands of namespaces.
    SELECT n.name, COALESCE(n.secrets, (SELECT pgrecall.stored_setting('secrets'))),
           COALESCE(n.secrets_in_messages, (SELECT pgrecall.stored_setting('secrets_in_messages'))), (
        SELECT COALESCE(jsonb_object_agg(k.kind, k.memories), '{}')
        FROM (
            SELECT s.kind, count(*) AS memories
            FROM pgrecall.memories m CROSS JOIN LATERAL unnest(m.secrets) s (kind)
            WHERE m.namespace_id = n.id AND m.secrets IS NOT NULL
            GROUP BY s.kind
        ) k
    )
    FROM pgrecall.namespaces n
    ORDER BY n.name;
END;

ALTER FUNCTION pgrecall.list_secrets OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.list_secrets TO pgrecall_reader;
