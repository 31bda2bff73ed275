-- Recreates erasure_counts(), which counts the rows per table that an erasure may delete, from the declarations of tables.
--
-- The receipt is the difference between before and after. Every erasure counts twice, and reading the declarations takes
-- milliseconds. Every installation calls this function.
--
-- erasure_counts(namespace_id, memory_ids, concept_ids, terms)
--
-- memory_ids   the memories
-- concept_ids  concepts that they mention or state facts about
-- terms        their words
CREATE OR REPLACE FUNCTION _pgrecall.rebuild_erasure_counts()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    counting text;
BEGIN
    -- Of each table the rows that its declaration names, or those that refer to the memories.
    SELECT string_agg(format('SELECT %L, count(*) FROM pgrecall.%I WHERE %s', d.name, d.name, COALESCE(d.erased, m.refers)),
                      E'\n    UNION ALL ' ORDER BY d.name) INTO counting
    FROM _pgrecall.table_declarations() d
    CROSS JOIN LATERAL (
        SELECT string_agg(format('%I = ANY ($2)', c.name), ' OR ') FROM unnest(d.columns_of_memories) c (name)
    ) m (refers)
    WHERE NOT d.is_kept AND COALESCE(d.erased, m.refers) IS NOT NULL;
    -- Volatile: it must see the deletions of the same transaction.
    EXECUTE format(
        'CREATE OR REPLACE FUNCTION _pgrecall.%I(namespace_id integer, memory_ids bigint[], concept_ids bigint[], terms text[]) '
        'RETURNS TABLE (name text, rows bigint) LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS %L',
        'erasure_counts', format(E'#variable_conflict use_column\nBEGIN\n    RETURN QUERY\n    %s;\nEND', counting)
    );
END
$function$;
