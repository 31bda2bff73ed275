-- Returns the lexemes of a date in numbers, 2026-12-09 or 9.12.26, with both readings of 06/12/2026; empty if it is none.
--
-- A number with points is a date only with a year of four digits or three parts of two: 3.11.14 is a version, 10.0.0.1 an address.
--
-- digits     digits with one kind of sign between them, at least two parts
-- is_opened  a word such as "on" stands before it, so 9/12 and 9.12. are dates
CREATE OR REPLACE FUNCTION _pgrecall.numeric_date_terms(digits text, is_opened boolean)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    mark CONSTANT text := left(ltrim(digits, '0123456789'), 1);
    parts CONSTANT text[] := string_to_array(digits, mark);
    shape text;
BEGIN
    IF length(digits) > 10 THEN
        RETURN '{}'::text[];
    END IF;
    shape := translate(digits, '0123456789-/.', 'dddddddddd---');
    IF shape IN ('dddd-dd-dd', 'dddd-d-d', 'dddd-dd-d', 'dddd-d-dd') THEN
        RETURN _pgrecall.date_terms(parts[1], parts[2], parts[3], true);
    ELSIF shape = 'dddd-dd' AND mark = '-' THEN
        RETURN _pgrecall.date_terms(parts[1], parts[2], NULL, true);
    ELSIF shape IN ('dd-dddd', 'd-dddd') AND mark = '/' THEN
        RETURN _pgrecall.date_terms(parts[2], parts[1], NULL, true);
    ELSIF shape IN ('dd-dd-dddd', 'd-dd-dddd', 'dd-d-dddd', 'd-d-dddd', 'dd-dd-dd')
          OR (mark <> '.' AND shape IN ('d-dd-dd', 'dd-d-dd', 'd-d-dd')) THEN
        RETURN _pgrecall.date_terms(parts[3], parts[2], parts[1], true)
            || CASE WHEN mark <> '.' THEN _pgrecall.date_terms(parts[3], parts[1], parts[2], true) ELSE '{}' END;
    ELSIF mark <> '-' AND ((is_opened AND shape IN ('d-dd', 'dd-d', 'd-d')) OR shape = 'dd-dd') THEN
        RETURN _pgrecall.date_terms(NULL, parts[2], parts[1], true)
            || CASE WHEN mark <> '.' THEN _pgrecall.date_terms(NULL, parts[1], parts[2], true) ELSE '{}' END;
    END IF;
    RETURN '{}'::text[];
END
$function$;
