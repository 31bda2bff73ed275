-- preview_import_rows: what import_rows() would do with rows of another program, and what is stored of them.
--
-- rows       as for import_rows(); of "memory" only namespace and external_id are read
-- namespace  of the rows that name none; NULL: the setting pgrecall.namespace, else 'default'
--
-- place         of the row in the array, from 1
-- id            of the memory, if there is one
-- outcome       'new'; 'present', if the row is as it was adopted; 'changed' at its source since; 'kept', if it is changed
--               and the memory was forgotten or superseded here; 'taken', if its external_id belongs to a memory that was not adopted
-- text_hash     SHA-256 of the content that is stored
-- is_sensitive, is_forgotten  as the memory is now
-- is_updated    it was updated here since
--
-- Errors  22023 rows is no array
CREATE OR REPLACE FUNCTION pgrecall.preview_import_rows(rows jsonb, namespace text DEFAULT NULL)
RETURNS TABLE (
    place integer, id bigint, outcome text, text_hash bytea, is_sensitive boolean, is_forgotten boolean, is_updated boolean
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    IF jsonb_typeof(preview_import_rows.rows) <> 'array' THEN
        RAISE EXCEPTION 'rows must be a JSON array, not %', jsonb_typeof(preview_import_rows.rows)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass an object for every row, as for import_rows().';
    END IF;
    RETURN QUERY
    SELECT r.place::integer, m.id,
           CASE
               WHEN m.id IS NULL THEN 'new'
               WHEN jsonb_typeof(m.metadata -> 'adopted_from') IS DISTINCT FROM 'object' THEN 'taken'
               WHEN m.metadata #> '{adopted_from,fingerprint}' = r.value #> '{adopted,fingerprint}' THEN 'present'
               -- A tombstone that came from the source goes when the source takes its own back.
               WHEN m.superseded_by IS NOT NULL
                    OR m.deleted_at IS NOT NULL AND m.metadata #> '{adopted_from,is_deleted}' IS DISTINCT FROM 'true' THEN 'kept'
               ELSE 'changed'
           END,
           sha256(convert_to(m.content, 'UTF8')), m.is_sensitive, m.deleted_at IS NOT NULL,
           to_jsonb(extract(epoch FROM m.updated_at)) IS DISTINCT FROM m.metadata #> '{adopted_from,updated_at}'
    FROM jsonb_array_elements(preview_import_rows.rows) WITH ORDINALITY r (value, place)
    CROSS JOIN (SELECT pgrecall.namespace_name(preview_import_rows.namespace) AS name OFFSET 0) home
    -- Computed before the lookups: under row-level security an index takes no expression that is not leakproof.
    CROSS JOIN LATERAL (
        SELECT COALESCE(r.value #>> '{memory,namespace}', home.name) AS namespace, r.value #>> '{memory,external_id}' AS external_id
        OFFSET 0
    ) named
    LEFT JOIN pgrecall.namespaces n ON n.name = named.namespace
    LEFT JOIN pgrecall.memories m ON m.namespace_id = n.id AND m.external_id = named.external_id
    ORDER BY r.place;
END
$function$;

COMMENT ON FUNCTION pgrecall.preview_import_rows IS
    'What pgrecall.import_rows() would do with rows of another program, and what is stored of them.';

ALTER FUNCTION pgrecall.preview_import_rows OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.preview_import_rows TO pgrecall_writer;
