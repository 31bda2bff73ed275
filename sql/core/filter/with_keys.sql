-- Adds to a filter the keys of its tags and values in memories_keys_idx, if few memories have them, for a planned statement.
--
-- A key is a hash of the namespace and the tag or value: what is searched for in the index is the caller's own, so neither
-- rows nor pages that a search reads tell what other namespaces have. A memory that passes the filter has
--
-- all_keys    each of these: of tags_all, of the values in metadata_contains, of those that metadata_where says a field equals
-- tag_keys    one of these: of tags_any
-- value_keys  one of these: of the shortest $in in metadata_where
--
-- What $and joins counts as if it stood alone; $or has no keys.
--
-- Where more than `few` memories have them the index saves nothing, and to compute the keys of a memory takes longer than to compare
-- its tags. Of a large namespace, a sample by content_hash tells whether it may be so many; fewer than four of it may be chance. The
-- statement is to be planned with its arguments (EXECUTE).
--
-- few  up to how many memories the caller would rather read by their keys than look for among all others; NULL: any number
CREATE OR REPLACE FUNCTION _pgrecall.with_keys(namespace_id integer, filter pgrecall.recall_filter, few integer DEFAULT 2000)
RETURNS pgrecall.recall_filter
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    leaves text[] := '{}'::text[];
    choices text[];
    condition record;
    keyed pgrecall.recall_filter := filter;
    sampled CONSTANT integer := 400;
    size integer;
    passed bigint;
BEGIN
    IF num_nonnulls(filter.tags_any, filter.tags_all, filter.metadata_contains, filter.metadata_path) = 0 THEN
        RETURN filter;
    END IF;
    IF few IS NOT NULL THEN
        size := _pgrecall.namespace_size(namespace_id, 100000000);
    END IF;
    IF size > few THEN
        SELECT count(*) INTO passed
        FROM (
            SELECT m.tags, m.metadata
            FROM pgrecall.memories m
            -- A range in its order, as in sparse_query().
            WHERE m.namespace_id BETWEEN with_keys.namespace_id AND with_keys.namespace_id
              AND m.deleted_at IS NULL AND m.superseded_by IS NULL AND NOT m.is_sensitive
            ORDER BY m.namespace_id, substring(m.content_hash FROM 1 FOR 4), m.id
            LIMIT sampled
        ) s
        WHERE (filter.tags_any IS NULL OR s.tags && filter.tags_any) AND (filter.tags_all IS NULL OR s.tags @> filter.tags_all)
          AND (filter.metadata_contains IS NULL OR s.metadata @> filter.metadata_contains)
          AND (filter.metadata_path IS NULL OR s.metadata @@ filter.metadata_path);
        IF passed >= 4 AND passed * size > sampled * few::bigint THEN
            RETURN filter;
        END IF;
    END IF;
    IF filter.tags_any IS NOT NULL THEN
        keyed.tag_keys := _pgrecall.namespace_keys(namespace_id, ARRAY(SELECT 't' || t.tag FROM unnest(filter.tags_any) t (tag)));
    END IF;
    IF filter.tags_all IS NOT NULL THEN
        leaves := ARRAY(SELECT 't' || t.tag FROM unnest(filter.tags_all) t (tag));
    END IF;
    IF filter.metadata_contains IS NOT NULL THEN
        leaves := leaves || _pgrecall.metadata_leaves(filter.metadata_contains);
    END IF;
    FOR condition IN
        WITH RECURSIVE joined (conditions) AS (
            SELECT filter.metadata_where
            UNION ALL
            SELECT v.value
            FROM joined j
            CROSS JOIN LATERAL jsonb_array_elements(COALESCE(j.conditions -> '$and', '[]')) v
        )
        -- The value at its path, as it would be in metadata: {"a.b": 1} is 1 at a, b.
        SELECT t.operator, ARRAY(
                   SELECT 'm' || p.path || substr(l.leaf, 2)
                   FROM jsonb_array_elements(CASE t.operator WHEN '$in' THEN t.value ELSE jsonb_build_array(t.value) END) v (value)
                   CROSS JOIN LATERAL unnest(_pgrecall.metadata_leaves(jsonb_build_array(v.value))) l (leaf)
               ) AS leaves
        FROM joined j
        CROSS JOIN LATERAL jsonb_each(j.conditions) c
        CROSS JOIN LATERAL (
            SELECT string_agg('.' || quote_literal(s.name), '' ORDER BY s.place) AS path
            FROM unnest(COALESCE(NULLIF(string_to_array(c.key, '.'), '{}'), '{""}')) WITH ORDINALITY s (name, place)
        ) p
        CROSS JOIN LATERAL jsonb_each(
            CASE jsonb_typeof(c.value) WHEN 'object' THEN c.value ELSE jsonb_build_object('$eq', c.value) END
        ) t (operator, value)
        WHERE t.operator IN ('$eq', '$in') AND c.key NOT IN ('$and', '$or')
    LOOP
        IF condition.operator = '$eq' THEN
            leaves := leaves || condition.leaves;
        ELSIF choices IS NULL OR cardinality(condition.leaves) < cardinality(choices) THEN
            choices := condition.leaves;
        END IF;
    END LOOP;
    IF choices IS NOT NULL THEN
        keyed.value_keys := _pgrecall.namespace_keys(namespace_id, choices);
    END IF;
    IF cardinality(leaves) > 0 THEN
        keyed.all_keys := _pgrecall.namespace_keys(namespace_id, leaves);
    END IF;
    RETURN keyed;
END
$function$;
