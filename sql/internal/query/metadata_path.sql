-- Builds the jsonpath predicate of metadata_where.
--
-- conditions  an object of field names with what their values must be. All fields must fit.
--             {"user_id": "priya"}           equals this string, number, boolean or null
--             {"price": {"$gte": 5, "$lt": 10}}  every condition holds: $eq, $ne, $lt, $lte, $gt, $gte
--             {"color": {"$in": ["red", "blue"]}}  one of these; $nin: none of these
--             {"color": {"$exists": true}}   the field is there, or not there (false)
--             {"address.city": "Kochi"}      a field of an object in the metadata
--
-- A field with an array fits if one of its items fits. $ne and $nin are true for memories without the field. Times
-- compare as text, so write them in one format.
--
-- Values become literals of jsonpath, quoted by jsonb. Equality and $in have an index (with_keys).
--
-- Errors  22023 no object, no such operator, or a value of the wrong type;  54000 too many conditions
CREATE OR REPLACE FUNCTION _pgrecall.metadata_path(conditions jsonb)
RETURNS jsonpath
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    comparisons CONSTANT jsonb := '{"$eq": "==", "$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">="}'::jsonb;
    hint CONSTANT text :=
        'Write {"field": value}, or {"field": {"$in": ["red", "blue"]}} with $eq, $ne, $lt, $lte, $gt, $gte, $in, $nin or $exists.';
    condition record;
    tested record;
    path text;
    parts text[] := '{}'::text[];
BEGIN
    IF jsonb_typeof(conditions) <> 'object' OR conditions = '{}' THEN
        RAISE EXCEPTION 'metadata_where must be a JSON object with a field, not %',
            CASE WHEN conditions = '{}' THEN 'an empty one' ELSE jsonb_typeof(conditions) END
            USING ERRCODE = 'invalid_parameter_value', HINT = hint;
    ELSIF octet_length(conditions::text) > 16384 THEN
        RAISE EXCEPTION 'metadata_where has % bytes; 16384 is the limit', octet_length(conditions::text)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Filter by fewer values, or by a tag.';
    END IF;
    FOR condition IN SELECT c.key, c.value, jsonb_typeof(c.value) AS kind FROM jsonb_each(conditions) c LOOP
        IF condition.kind = 'array' THEN
            RAISE EXCEPTION 'metadata_where: a field is compared with an array'
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Write {"$in": […]}.';
        END IF;
        SELECT '$' || string_agg('.' || to_json(s.name)::text, '' ORDER BY s.place) INTO path
        FROM unnest(string_to_array(condition.key, '.')) WITH ORDINALITY s (name, place);
        FOR tested IN
            SELECT t.key AS operator, t.value, jsonb_typeof(t.value) AS kind
            FROM jsonb_each(
                CASE condition.kind WHEN 'object' THEN condition.value ELSE jsonb_build_object('$eq', condition.value) END
            ) t
        LOOP
            IF comparisons ? tested.operator OR tested.operator = '$ne' THEN
                IF tested.kind IN ('object', 'array') THEN
                    RAISE EXCEPTION 'metadata_where: % compares with a string, a number, a boolean or null', tested.operator
                        USING ERRCODE = 'invalid_parameter_value', HINT = hint;
                END IF;
                parts := parts || CASE tested.operator
                    -- exists() is false where types differ; a comparison would be unknown.
                    WHEN '$ne' THEN format('!(exists(%s ? (@ == %s)))', path, tested.value)
                    ELSE format('(%s %s %s)', path, comparisons ->> tested.operator, tested.value)
                END;
            ELSIF tested.operator IN ('$in', '$nin') AND tested.kind = 'array'
                  AND NOT jsonb_path_exists(tested.value, '$[*] ? (@.type() == "object" || @.type() == "array")') THEN
                parts := parts || (
                    SELECT format(
                        CASE tested.operator WHEN '$in' THEN '(%1$s)' ELSE '!(exists(%2$s ? (%1$s)))' END,
                        -- No value at all: nothing is one of them.
                        COALESCE(string_agg(format(
                            '%s == %s', CASE tested.operator WHEN '$in' THEN path ELSE '@' END, v.value
                        ), ' || '), '1 == 0'),
                        path
                    )
                    FROM jsonb_array_elements(tested.value) v
                );
            ELSIF tested.operator = '$exists' AND tested.kind = 'boolean' THEN
                parts := parts || format(CASE tested.value::boolean WHEN true THEN 'exists(%s)' ELSE '!(exists(%s))' END, path);
            ELSE
                RAISE EXCEPTION 'metadata_where: %', CASE
                    WHEN tested.operator IN ('$in', '$nin') THEN tested.operator || ' needs an array of strings, numbers, booleans or nulls'
                    WHEN tested.operator = '$exists' THEN '$exists is true or false'
                    -- It could be any text, so the message does not quote it.
                    ELSE 'one of its operators does not exist'
                END
                    USING ERRCODE = 'invalid_parameter_value', HINT = hint;
            END IF;
        END LOOP;
    END LOOP;
    IF cardinality(parts) NOT BETWEEN 1 AND 100 THEN
        RAISE EXCEPTION 'metadata_where has % conditions, not 1 to 100', cardinality(parts)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Filter by fewer values, or by a tag.';
    END IF;
    RETURN array_to_string(parts, ' && ')::jsonpath;
END
$function$;

COMMENT ON FUNCTION _pgrecall.metadata_path IS 'Builds the jsonpath predicate of metadata_where.';
