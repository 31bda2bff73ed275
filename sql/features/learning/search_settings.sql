-- Finds settings that answer judged queries better, by coordinate search. Returns those that differ from the base.
--
-- Takes one setting after the other, tries each of its values with what was found so far, and keeps a value if it raises
-- the mean nDCG@10 by more than 0.003: less is chance.
--
-- base  the value of each learnable setting to start from
CREATE OR REPLACE FUNCTION _pgrecall.search_settings(namespace_id integer, query_ids text[], base jsonb)
RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
SET search_path FROM CURRENT
AS $function$
DECLARE
    least_gain CONSTANT double precision := 0.003::double precision;
    found jsonb := '{}'::jsonb;
    best double precision;
    reached double precision;
    candidate record;
BEGIN
    SELECT avg(s.ndcg_at_10) INTO best FROM _pgrecall.query_scores(search_settings.namespace_id, query_ids, base) s;
    FOR candidate IN
        SELECT l.name, v.value
        FROM pgrecall.learnable_settings l
        CROSS JOIN LATERAL unnest(l.tried) WITH ORDINALITY AS v (value, place)
        WHERE v.value::double precision <> (base ->> l.name)::double precision
        ORDER BY l.place, v.place
    LOOP
        SELECT avg(s.ndcg_at_10) INTO reached
        FROM _pgrecall.query_scores(
            search_settings.namespace_id, query_ids, base || found || jsonb_build_object(candidate.name, candidate.value)
        ) s;
        IF reached > best + least_gain THEN
            best := reached;
            found := found || jsonb_build_object(candidate.name, candidate.value);
        END IF;
    END LOOP;
    RETURN found;
END
$function$;
