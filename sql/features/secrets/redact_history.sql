-- Replaces each secret in the earlier values of a memory by its marker; returns the kinds found, NULL if there is none.
--
-- A change stays, with the marker on both sides if it was the secret that changed. The ids that a caller gives, session and
-- external_id, it does not read.
--
-- was_key, key  the external_id before and after: a key that was made of a secret goes too
-- dry_run       change nothing
CREATE OR REPLACE FUNCTION _pgrecall.redact_history(memory_id bigint, was_key text, key text, dry_run boolean)
RETURNS text[]
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
SET enable_seqscan = 'off'
AS $function$
DECLARE
    ids CONSTANT text[] := '{session,external_id}'::text[];
    found text[];
BEGIN
    SELECT array_agg(DISTINCT k.kind ORDER BY k.kind) INTO found
    FROM pgrecall.memory_changes c
    CROSS JOIN LATERAL (VALUES (c.before), (c.after)) v (fields)
    CROSS JOIN LATERAL _pgrecall.redact_json(v.fields - ids) r
    CROSS JOIN LATERAL unnest(r.kinds) k (kind)
    WHERE c.memory_id = redact_history.memory_id;
    IF dry_run OR found IS NULL AND was_key IS NOT DISTINCT FROM key THEN
        RETURN found;
    END IF;
    UPDATE pgrecall.memory_changes c
    SET before = n.before, after = n.after, bytes = octet_length(n.before::text) + octet_length(n.after::text)
    FROM (
        SELECT o.id,
               o.before || (_pgrecall.redact_json(o.before - ids)).clean
                   || CASE WHEN o.before ->> 'external_id' = was_key THEN jsonb_build_object('external_id', key) ELSE '{}' END AS before,
               o.after || (_pgrecall.redact_json(o.after - ids)).clean
                   || CASE WHEN o.after ->> 'external_id' = was_key THEN jsonb_build_object('external_id', key) ELSE '{}' END AS after
        FROM pgrecall.memory_changes o
        WHERE o.memory_id = redact_history.memory_id
    ) n
    WHERE c.id = n.id AND (c.before, c.after) IS DISTINCT FROM (n.before, n.after);
    RETURN found;
END
$function$;
