-- Returns what a text states in figures, each as kind=value: {p=4960148, "q kg=2.5"}. A question and a memory that state other values
-- of one kind are about different things (is_contradicted).
--
--   p, day, t   a phone number, a day, a time of day: all notations of value_terms() alike
--   q unit      a quantity or an amount of money
--   n word      a short number after a word, of a version its first: room 14, iOS 18, nginx 1.26
--   i shape     a number of four digits or more that is no year, or an identifier with as many: invoice 4471, PR-1234
--
-- values  the text's value_terms()
CREATE OR REPLACE FUNCTION _pgrecall.stated_values(content text, "values" text[])
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
BEGIN
    RETURN (
        SELECT array_agg(DISTINCT s.stated) FILTER (WHERE s.stated IS NOT NULL)
        FROM (
            SELECT CASE
                       WHEN left(v.value, 2) IN ('=p', '=t') THEN substr(v.value, 2, 1) || '=' || substr(v.value, 3)
                       WHEN v.value LIKE '=q%' THEN 'q ' || q.unit || '=' || substr(v.value, 3, length(v.value) - length(q.unit) - 2)
                       WHEN translate(v.value, '0123456789', 'dddddddddd') = '=dd-dd' THEN 'day' || v.value
                   END AS stated
            FROM unnest("values") v (value)
            CROSS JOIN LATERAL ltrim(substr(v.value, 3), '-+0123456789.e') q (unit)
            UNION ALL
            SELECT 'n ' || n.found[1] || '=' || n.found[2]
            FROM regexp_matches(lower(content), '([[:alpha:]]{3,})[ #]*v?([0-9]{1,3})(?:\.[0-9]+)*(?![a-z0-9]|[.,:/-][0-9])', 'g')
                n (found)
            WHERE to_tsvector('pg_catalog.english'::regconfig, n.found[1]) <> '' OR ltrim(n.found[1], 'abcdefghijklmnopqrstuvwxyz') <> ''
            UNION ALL
            -- Words without a digit are passed over before they are cut out, which takes a fifteenth of the time.
            SELECT 'i ' || translate(i.found[1], '0123456789', '9999999999') || '=' || i.found[1]
            FROM regexp_matches(
                lower(content),
                '(?<![[:alnum:].,:/_-])(?=[[:alnum:]/_-]*[0-9])([[:alnum:]]+(?:[-/_][[:alnum:]]+)*)(?![[:alnum:]]|[.,:][0-9])', 'g'
            ) i (found)
            WHERE length(i.found[1]) - length(translate(i.found[1], '0123456789', '')) >= 4
              AND i.found[1] !~ '^(?:(?:19|20)[0-9]{2}|[0-9]{1,4}[-/][0-9]{1,2}[-/][0-9]{1,4}|(?:19|20)[0-9]{2}[-/][0-9]{2,4})$'
        ) s
    );
END
$function$;
