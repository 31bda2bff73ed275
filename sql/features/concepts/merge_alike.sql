-- Merges two matching concepts if both still exist: the one with fewer mentions into the other. Returns the one that stays.
--
-- Mentions are counted up to 1000; with equal counts the older concept stays. Since earlier merges may have changed them, types
-- and splits are checked again. By spelling, two names must match that _pgrecall.folded_name takes for the main names: otherwise a
-- chain of misspellings, each one letter from the next, would join words that have nothing in common. NULL: no merge was made.
CREATE OR REPLACE FUNCTION _pgrecall.merge_alike(one bigint, other bigint, method text, similarity real)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    found record;
BEGIN
    SELECT array_agg(c.id ORDER BY (
               SELECT count(*) FROM (SELECT FROM pgrecall.mentions m WHERE m.concept_id = c.id LIMIT 1000) m
           ) DESC, c.id) AS ids,
           count(DISTINCT c.type) FILTER (WHERE c.type <> 'CONCEPT') AS types
    INTO found
    FROM pgrecall.concepts c
    WHERE c.id IN (one, other);
    IF COALESCE(cardinality(found.ids), 0) < 2 OR found.types > 1 OR _pgrecall.was_split(one, other) THEN
        RETURN NULL;
    ELSIF method = 'spelling' AND NOT EXISTS (
        WITH own AS MATERIALIZED (
            SELECT c.id, n.alias, n.name
            FROM pgrecall.concepts c
            CROSS JOIN LATERAL (
                SELECT a.alias, a.name FROM pgrecall.concept_aliases a WHERE a.concept_id = c.id ORDER BY a.alias LIMIT 10
            ) n
            WHERE c.id IN (one, other) AND _pgrecall.folded_name(n.alias) = _pgrecall.folded_name(c.key)
        )
        SELECT FROM own a
        JOIN own b ON b.id = other
        WHERE a.id = one AND _pgrecall.name_match(a.alias, b.alias, a.name, b.name, false, false) <> 'doubtful'
    ) THEN
        RETURN NULL;
    END IF;
    PERFORM pgrecall.merge_concepts(found.ids[2], found.ids[1], method, similarity);
    RETURN found.ids[1];
END
$function$;
