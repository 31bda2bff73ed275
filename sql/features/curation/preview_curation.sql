-- Shows what curation by rules would do with a namespace in its present state. Writes nothing.
--
-- Every memory is checked on its own: effects of earlier decisions in the same run are not considered.
--
-- namespace, since, max_memories  see uncurated_memories()
--
-- Errors  42704 no such namespace;  22023 max_memories is negative
CREATE OR REPLACE FUNCTION pgrecall.preview_curation(
    namespace text DEFAULT NULL, since timestamptz DEFAULT NULL, max_memories integer DEFAULT 1000
)
RETURNS TABLE (memory_id bigint, decision text, other_id bigint, content text, other_content text, evidence jsonb)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1000
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    -- First: a plan that begins with an empty table would never look at the limit.
    PERFORM _pgrecall.parse_row_limit(preview_curation.max_memories);
    RETURN QUERY SELECT u.id, d.decision, d.other_id, m.content, o.content, d.evidence
    FROM pgrecall.uncurated_memories(preview_curation.namespace, preview_curation.since, preview_curation.max_memories) u (id)
    CROSS JOIN LATERAL pgrecall.decide_curation(u.id) d
    JOIN pgrecall.memories m ON m.id = u.id
    LEFT JOIN pgrecall.memories o ON o.id = d.other_id;
END
$function$;

ALTER FUNCTION pgrecall.preview_curation OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.preview_curation TO pgrecall_reader;
