-- Returns a memory and the older memories near it, with their texts, for a language model to decide. The memory is first.
--
-- Never returns a sensitive memory. Returns no row if the memory is sensitive, forgotten or superseded.
--
-- anchor  when the memory was said
CREATE OR REPLACE FUNCTION pgrecall.curation_context(memory_id bigint)
RETURNS TABLE (id bigint, content text, anchor timestamptz, content_hash bytea, cosine double precision)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 6
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT m.id, concat_ws(E'\n', m.title, m.content), COALESCE(m.occurred_at, m.created_at), m.content_hash, x.cosine
    FROM (
        SELECT _pgrecall.seen_id('memory', curation_context.memory_id) AS id, 0 AS place, NULL::double precision AS cosine
        UNION ALL
        SELECT c.other_id, row_number() OVER (), c.cosine
        FROM _pgrecall.curation_candidates(_pgrecall.seen_id('memory', curation_context.memory_id)) c
    ) x
    JOIN pgrecall.memories m ON m.id = x.id
    WHERE NOT m.is_sensitive AND m.deleted_at IS NULL
    ORDER BY x.place;
END;

ALTER FUNCTION pgrecall.curation_context OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.curation_context TO pgrecall_reader, pgrecall_embedder;
