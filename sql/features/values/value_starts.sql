-- Returns the first three letters of each name of a month or weekday, and the ordinals in words: how a value without a digit begins.
CREATE OR REPLACE FUNCTION _pgrecall.value_starts()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT array_agg(DISTINCT k.start)
    FROM (
        SELECT left(n.name, 3) AS start FROM jsonb_object_keys(_pgrecall.month_names() || _pgrecall.weekday_names()) n (name)
        UNION ALL
        SELECT n.names ->> 0 FROM jsonb_each(_pgrecall.number_names()) n (number, names)
    ) k;
END;
