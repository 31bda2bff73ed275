-- Lists undecided relationship labels of a namespace, most frequent first.
--
-- pgrecall.set_relation_label() decides a label by mapping it to another or to itself.
CREATE OR REPLACE FUNCTION pgrecall.unresolved_labels(namespace_id integer)
RETURNS TABLE (label text, relationships bigint)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT u.label, u.relationships
    FROM (
        SELECT r.label, count(*) AS relationships
        FROM pgrecall.relationships r
        WHERE r.namespace_id = unresolved_labels.namespace_id
        GROUP BY r.label
    ) u
    WHERE u.label NOT IN (
        SELECT d.label
        FROM pgrecall.relation_labels l
        CROSS JOIN LATERAL (VALUES (l.alias), (l.label)) d (label)
        WHERE l.namespace_id = unresolved_labels.namespace_id
    )
    ORDER BY u.relationships DESC, u.label COLLATE "C";
END;

ALTER FUNCTION pgrecall.unresolved_labels OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.unresolved_labels TO pgrecall_reader, pgrecall_embedder;
