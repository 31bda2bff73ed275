-- Adds to a filter the keys of its tags and values in memories_keys_idx, for a statement that is planned with its arguments.
--
-- A key is a hash of the namespace and the tag or value: what is searched for in the index is the caller's own, so neither
-- rows nor pages that a search reads tell what other namespaces have. A memory that passes the filter has
--
-- all_keys    each of these: of tags_all, of the values in metadata_contains, of those that metadata_where says a field equals
-- tag_keys    one of these: of tags_any
-- value_keys  one of these: of the shortest $in in metadata_where
CREATE OR REPLACE FUNCTION _pgrecall.with_keys(namespace_id integer, filter pgrecall.recall_filter)
RETURNS pgrecall.recall_filter
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    leaves text[] := '{}'::text[];
    choices text[];
    condition record;
BEGIN
    IF filter.tags_any IS NOT NULL THEN
        filter.tag_keys := _pgrecall.namespace_keys(namespace_id, ARRAY(SELECT 't' || t.tag FROM unnest(filter.tags_any) t (tag)));
    END IF;
    IF filter.tags_all IS NOT NULL THEN
        leaves := ARRAY(SELECT 't' || t.tag FROM unnest(filter.tags_all) t (tag));
    END IF;
    IF filter.metadata_contains IS NOT NULL THEN
        leaves := leaves || ARRAY(SELECT _pgrecall.metadata_leaves(filter.metadata_contains));
    END IF;
    FOR condition IN
        -- The value at its path, as it would be in metadata: {"a.b": 1} is 1 at a, b.
        SELECT t.operator, ARRAY(
                   SELECT 'm' || p.path || substr(l.leaf, 2)
                   FROM jsonb_array_elements(CASE t.operator WHEN '$in' THEN t.value ELSE jsonb_build_array(t.value) END) v (value)
                   CROSS JOIN LATERAL _pgrecall.metadata_leaves(v.value) l (leaf)
               ) AS leaves
        FROM jsonb_each(filter.metadata_conditions) c
        CROSS JOIN LATERAL (
            SELECT string_agg('.' || quote_literal(s.name), '' ORDER BY s.place) AS path
            FROM unnest(string_to_array(c.key, '.')) WITH ORDINALITY s (name, place)
        ) p
        CROSS JOIN LATERAL jsonb_each(
            CASE jsonb_typeof(c.value) WHEN 'object' THEN c.value ELSE jsonb_build_object('$eq', c.value) END
        ) t (operator, value)
        WHERE t.operator IN ('$eq', '$in')
    LOOP
        IF condition.operator = '$eq' THEN
            leaves := leaves || condition.leaves;
        ELSIF choices IS NULL OR cardinality(condition.leaves) < cardinality(choices) THEN
            choices := condition.leaves;
        END IF;
    END LOOP;
    IF choices IS NOT NULL THEN
        filter.value_keys := _pgrecall.namespace_keys(namespace_id, choices);
    END IF;
    IF cardinality(leaves) > 0 THEN
        filter.all_keys := _pgrecall.namespace_keys(namespace_id, leaves);
    END IF;
    RETURN filter;
END
$function$;

COMMENT ON FUNCTION _pgrecall.with_keys IS 'Adds to a filter the keys of its tags and values in memories_keys_idx.';
