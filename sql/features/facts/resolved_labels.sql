-- Lists the decided labels of a namespace, with the number of relationships that have each.
--
-- Candidates for a new label to map to.
CREATE OR REPLACE FUNCTION pgrecall.resolved_labels(namespace_id integer)
RETURNS TABLE (label text, relationships bigint)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT k.label,
           (SELECT count(*) FROM pgrecall.relationships r WHERE r.namespace_id = resolved_labels.namespace_id AND r.label = k.label)
    FROM (
        SELECT DISTINCT pgrecall.canonical_label(l.namespace_id, l.label) AS label
        FROM pgrecall.relation_labels l
        WHERE l.namespace_id = resolved_labels.namespace_id
    ) k
    ORDER BY 2 DESC, k.label COLLATE "C";
END;

ALTER FUNCTION pgrecall.resolved_labels OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.resolved_labels TO pgrecall_embedder;
