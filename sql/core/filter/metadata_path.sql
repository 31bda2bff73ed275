-- Builds the jsonpath predicate of metadata_where. NULL: the conditions fit every memory.
--
-- conditions  an object of field names with what their values must be. All fields must fit.
--             {"user_id": "priya"}           equals this string, number, boolean or null
--             {"price": {"$gte": 5, "$lt": 10}}  every condition holds: $eq, $ne, $lt, $lte, $gt, $gte
--             {"color": {"$in": ["red", "blue"]}}  one of these; $nin: none of these
--             {"color": {"$exists": true}}   the field is there, or not there (false)
--             {"address.city": "Kochi"}      a field of an object in the metadata
--             {"$or": [{"n": 1}, {"n": 2}]}  one of these objects fits; $and: all of them
-- is_deleting  refuse conditions of which one fits every memory
--
-- A field with an array fits if one of its items fits. $ne and $nin are true for memories without the field. Times
-- compare as text, so write them in one format. An empty condition, {} or "$nin": [], fits every memory; "$in": [] fits none.
--
-- Values become literals of jsonpath, quoted by jsonb. Equality and $in have an index (with_keys).
--
-- The text of the predicate grows with the product of paths and values, and parsing it takes some 200 times its size, so it is
-- bounded too.
--
-- Errors  those of _pgrecall.metadata_predicate;  54000 too much text
CREATE OR REPLACE FUNCTION _pgrecall.metadata_path(conditions jsonb, is_deleting boolean)
RETURNS jsonpath
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    max_bytes CONSTANT integer := 16384;
    max_predicate_bytes CONSTANT integer := 131072;
    predicate text;
BEGIN
    IF NOT _pgrecall.is_plain_json(conditions) THEN
        RAISE EXCEPTION 'metadata_where is nested too deeply or has a number out of range'
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Metadata has at most 64 levels and numbers up to 1e308.';
    ELSIF octet_length(conditions::text) > max_bytes THEN
        RAISE EXCEPTION 'metadata_where has % bytes; % is the limit', octet_length(conditions::text), max_bytes
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Filter by fewer values, or by a tag.';
    END IF;
    predicate := _pgrecall.metadata_predicate(conditions, is_deleting);
    IF octet_length(predicate) > max_predicate_bytes THEN
        RAISE EXCEPTION 'metadata_where has % bytes when each value has its field; % is the limit',
            octet_length(predicate), max_predicate_bytes
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Filter by fewer values, or by a tag.';
    END IF;
    RETURN predicate::jsonpath;
END
$function$;
