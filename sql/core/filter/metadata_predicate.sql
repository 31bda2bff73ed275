-- Builds the text of the jsonpath predicate of metadata_where. NULL: the conditions fit every memory.
--
-- _pgrecall.metadata_path says what conditions are. It bounds their text; this function bounds what becomes of it: a path is
-- written once for each value.
--
-- is_deleting  refuse a part that fits every memory
-- level        depth of $and and $or
--
-- Errors  22023 no object, no such operator, a value of the wrong type, or an empty condition;  54000 nested too deeply
CREATE OR REPLACE FUNCTION _pgrecall.metadata_predicate(conditions jsonb, is_deleting boolean, level integer DEFAULT 1)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    comparisons CONSTANT jsonb := '{"$eq": "==", "$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">="}'::jsonb;
    max_level CONSTANT integer := 8;
    max_names CONSTANT integer := 64;
    max_path_bytes CONSTANT integer := 1024;
    hint CONSTANT text :=
        'Write {"field": value}, or {"field": {"$in": ["red", "blue"]}} with $eq, $ne, $lt, $lte, $gt, $gte, $in, $nin or '
        '$exists; {"$and": […]} and {"$or": […]} join several. A range is {"$gte": 5, "$lte": 10}; texts are compared whole.';
    condition record;
    tested record;
    names text[];
    path text;
    part text;
    parts text[] := '{}'::text[];
BEGIN
    IF jsonb_typeof(conditions) <> 'object' THEN
        RAISE EXCEPTION 'metadata_where must be a JSON object, not %', jsonb_typeof(conditions)
            USING ERRCODE = 'invalid_parameter_value', HINT = hint;
    ELSIF level > max_level THEN
        RAISE EXCEPTION 'metadata_where has $and and $or more than % levels deep', max_level
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Join the conditions in one list.';
    END IF;
    FOR condition IN SELECT c.key, c.value, jsonb_typeof(c.value) AS kind FROM jsonb_each(conditions) c LOOP
        IF condition.key IN ('$and', '$or') THEN
            IF condition.kind <> 'array' THEN
                RAISE EXCEPTION 'metadata_where: % needs an array of objects', condition.key
                    USING ERRCODE = 'invalid_parameter_value', HINT = hint;
            END IF;
            -- A branch that fits every memory is NULL. One of them in $or makes the whole NULL.
            SELECT CASE
                WHEN condition.key = '$and' THEN string_agg('(' || b.part || ')', ' && ')
                WHEN count(*) = count(b.part) THEN '(' || string_agg('(' || b.part || ')', ' || ') || ')'
            END INTO part
            FROM (
                SELECT _pgrecall.metadata_predicate(v.value, is_deleting, level + 1) AS part
                FROM jsonb_array_elements(condition.value) v
            ) b;
            parts := parts || part;
            CONTINUE;
        ELSIF condition.kind = 'array' THEN
            RAISE EXCEPTION 'metadata_where: a field is compared with an array'
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Write {"$in": […]}.';
        ELSIF condition.value = '{}' THEN
            parts := parts || NULL::text;
            CONTINUE;
        END IF;
        -- An empty name is a name, too; string_to_array() makes nothing of it.
        names := COALESCE(NULLIF(string_to_array(condition.key, '.'), '{}'), '{""}');
        SELECT '$' || string_agg('.' || to_json(s.name)::text, '' ORDER BY s.place) INTO path
        FROM unnest(names) WITH ORDINALITY s (name, place)
        WHERE s.place <= max_names + 1;
        IF octet_length(path) > max_path_bytes OR cardinality(names) > max_names THEN
            RAISE EXCEPTION 'metadata_where: the name of a field is too long'
                USING ERRCODE = 'program_limit_exceeded',
                      HINT = format('%s bytes and %s levels are the limit.', max_path_bytes, max_names);
        END IF;
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
                    SELECT CASE tested.operator
                        -- No value at all: nothing is one of them.
                        WHEN '$in' THEN format('(%s)', COALESCE(string_agg(format('%s == %s', path, v.value), ' || '), '1 == 0'))
                        ELSE format('!(exists(%s ? (%s)))', path, string_agg(format('@ == %s', v.value), ' || '))
                    END
                    FROM jsonb_array_elements(tested.value) v
                    HAVING tested.operator = '$in' OR count(*) > 0
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
    IF is_deleting AND (cardinality(parts) = 0 OR array_position(parts, NULL) IS NOT NULL) THEN
        RAISE EXCEPTION 'metadata_where: a condition is empty and would fit every memory'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Where memories are deleted every condition must say which. Leave it out.';
    END IF;
    RETURN NULLIF(array_to_string(parts, ' && '), '');
END
$function$;
