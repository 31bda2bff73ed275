-- Stores the times that the texts of some memories mention. Sensitive and forgotten memories get none.
CREATE OR REPLACE FUNCTION _pgrecall.store_temporal_refs(ids bigint[])
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    INSERT INTO pgrecall.temporal_refs (memory_id, namespace_id, span, from_at, to_at)
    SELECT m.id, m.namespace_id, r.span, lower(r.period), upper(r.period)
    FROM pgrecall.memories m
    CROSS JOIN LATERAL _pgrecall.temporal_references(m.content, COALESCE(m.occurred_at, m.created_at)) r
    WHERE m.id = ANY (ids) AND NOT m.is_sensitive AND m.deleted_at IS NULL;
END;
