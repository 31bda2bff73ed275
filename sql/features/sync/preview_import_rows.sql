-- Tells what pgrecall.import_rows() would do with rows of another program, and describes their memories.
--
-- rows       as for import_rows(); only namespace and external_id of "memory" are read
-- namespace  of rows without one; NULL: the setting pgrecall.namespace, else 'default'
--
-- place         position of the row in the array, from 1
-- id            of the existing memory
-- outcome       'new'; 'present' if the row is unchanged since its import; 'changed' at its source; 'kept' if it changed but
--               the memory was forgotten or superseded here; 'taken' if its external_id belongs to a memory of another source
-- text_hash     SHA-256 of the stored content
-- is_sensitive, is_forgotten  current state of the memory
-- is_updated    the memory was updated here since its import
--
-- Errors  22023 rows is no array
CREATE OR REPLACE FUNCTION pgrecall.preview_import_rows(rows jsonb, namespace text DEFAULT NULL)
RETURNS TABLE (
    place integer, id bigint, outcome text, text_hash bytea, is_sensitive boolean, is_forgotten boolean, is_updated boolean
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT SET extra_float_digits = 1
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
               WHEN jsonb_typeof(m.metadata -> 'imported_from') IS DISTINCT FROM 'object' THEN 'taken'
               WHEN m.metadata #> '{imported_from,fingerprint}' = r.value #> '{import,fingerprint}' THEN 'present'
               -- A memory that the source deleted comes back when the source restores the row.
               WHEN m.superseded_by IS NOT NULL
                    OR m.deleted_at IS NOT NULL AND m.metadata #> '{imported_from,is_deleted}' IS DISTINCT FROM 'true' THEN 'kept'
               ELSE 'changed'
           END,
           sha256(convert_to(m.content, 'UTF8')), m.is_sensitive, m.deleted_at IS NOT NULL,
           to_jsonb(extract(epoch FROM m.updated_at)) IS DISTINCT FROM m.metadata #> '{imported_from,updated_at}'
    FROM jsonb_array_elements(preview_import_rows.rows) WITH ORDINALITY r (value, place)
    CROSS JOIN (SELECT pgrecall.namespace_name(preview_import_rows.namespace) AS name OFFSET 0) home
    -- Computed before the lookups: under row-level security an index takes no expression that is not leakproof.
    CROSS JOIN LATERAL (
        SELECT COALESCE(r.value #>> '{memory,namespace}', home.name) AS namespace, r.value #>> '{memory,external_id}' AS external_id
        OFFSET 0
    ) named
    LEFT JOIN LATERAL (SELECT _pgrecall.find_namespace(named.namespace) AS id OFFSET 0) n ON true
    LEFT JOIN pgrecall.memories m ON m.namespace_id = n.id AND m.external_id = named.external_id
    ORDER BY r.place;
END
$function$;

ALTER FUNCTION pgrecall.preview_import_rows OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.preview_import_rows TO pgrecall_writer;
