-- Checks the weights of namespaces of a call: an object of numbers between 0 and 1, by names among those that the call reads.
--
-- names  what the call reads; NULL: one namespace
--
-- Errors  22023 no such object, a name that the call does not read, or a value out of range
CREATE OR REPLACE FUNCTION _pgrecall.check_namespace_weights(weights jsonb, names text[])
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    item record;
BEGIN
    IF weights IS NULL THEN
        RETURN;
    ELSIF jsonb_typeof(weights) <> 'object' OR names IS NULL THEN
        RAISE EXCEPTION 'namespace_weights are for a call with namespaces: an object of numbers by name'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Write namespaces => ARRAY[''me'', ''team''], namespace_weights => ''{"team": 0.5}''.';
    END IF;
    FOR item IN SELECT w.key, w.value FROM jsonb_each(weights) w LOOP
        IF item.key <> ALL (names) THEN
            RAISE EXCEPTION 'namespace_weights names "%", which is not among the namespaces', left(item.key, 200)
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Name it in namespaces, or leave it out.';
        ELSIF jsonb_typeof(item.value) <> 'number' OR item.value::numeric NOT BETWEEN 0 AND 1 THEN
            RAISE EXCEPTION 'the weight of namespace "%" must be a number between 0 and 1, not %',
                left(item.key, 200), left(item.value::text, 50)
                USING ERRCODE = 'invalid_parameter_value', HINT = '1 leaves its scores as they are.';
        END IF;
    END LOOP;
END
$function$;
