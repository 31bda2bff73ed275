-- Leases pending queries to a worker for five seconds. Roles take turns.
--
-- Roles take turns, the least recently served first, so that one role's many queries do not delay another's. Within a role
-- the newest come first, because clients wait only a fraction of a second. Deletes queries older than a minute. Waits for nobody:
-- whoever asks may keep a transaction open.
CREATE OR REPLACE FUNCTION pgrecall.claim_query_embeddings(generation integer, batch integer DEFAULT 16)
RETURNS TABLE (id bigint, query text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 4
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    asking regrole;
    roles regrole[];
    given integer := 0;
    given_before integer;
BEGIN
    -- Also deletes queries with a future time: after the clock was set back, they would never expire.
    DELETE FROM pgrecall.query_embeddings q
    WHERE q.id IN (
        SELECT o.id FROM pgrecall.query_embeddings o
        WHERE o.answered_at IS NULL
          AND o.requested_at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp() + interval '1 minute'
        FOR UPDATE SKIP LOCKED
    );
    SELECT array_agg(w.role ORDER BY w.served_at NULLS FIRST, w.role) INTO roles
    FROM (
        SELECT a.role, (SELECT max(s.claimed_at) FROM pgrecall.query_embeddings s
                        WHERE s.role = a.role AND s.claimed_at <= clock_timestamp()) AS served_at
        FROM (
            SELECT DISTINCT q.role FROM pgrecall.query_embeddings q
            WHERE q.answered_at IS NULL AND q.generation_id = claim_query_embeddings.generation
              AND NOT _pgrecall.is_ahead(q.lease_expires_at, '5 seconds')
        ) a
    ) w;
    WHILE given < batch AND given IS DISTINCT FROM given_before LOOP
        given_before := given;
        FOREACH asking IN ARRAY COALESCE(roles, '{}') LOOP
            EXIT WHEN given >= batch;
            RETURN QUERY
                UPDATE pgrecall.query_embeddings q
                SET lease_expires_at = clock_timestamp() + interval '5 seconds', claimed_at = clock_timestamp()
                WHERE q.id = (
                    SELECT o.id FROM pgrecall.query_embeddings o
                    WHERE o.answered_at IS NULL AND o.generation_id = claim_query_embeddings.generation AND o.role = asking
                      AND NOT _pgrecall.is_ahead(o.lease_expires_at, '5 seconds')
                    ORDER BY o.requested_at DESC
                    LIMIT 1
                    FOR UPDATE SKIP LOCKED
                )
                RETURNING q.id, q.query;
            IF FOUND THEN
                given := given + 1;
            END IF;
        END LOOP;
    END LOOP;
END
$function$;

ALTER FUNCTION pgrecall.claim_query_embeddings OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.claim_query_embeddings TO pgrecall_embedder;
