-- Returns the parts of a text that match a regular expression, each with its place, counted from 0.
--
-- flags  i: case does not matter. Between letters such as those of Korean that is slow, and they have none
CREATE OR REPLACE FUNCTION _pgrecall.pattern_stretches(content text, pattern text, flags text)
RETURNS TABLE (place integer, stretch text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE ROWS 2
SET search_path FROM CURRENT
AS $function$
DECLARE
    between_them text[];
    number integer := 0;
BEGIN
    place := 0;
    FOR stretch IN SELECT m[1] FROM regexp_matches(content, '(' || pattern || ')', flags || 'g') m LOOP
        between_them := COALESCE(between_them, regexp_split_to_array(content, '(' || pattern || ')', flags));
        number := number + 1;
        place := place + length(between_them[number]);
        RETURN NEXT;
        place := place + length(stretch);
    END LOOP;
END
$function$;
