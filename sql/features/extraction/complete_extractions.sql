-- Stores extractions of claimed memories, in each namespace all or none. Returns how many it stored.
--
-- Replaces earlier results of the same enricher. A ticket becomes invalid when the text changes or the memory becomes
-- sensitive or is forgotten: results of the old text are dropped, and a memory that is pending is extracted again.
--
-- Workers take turns in a namespace, and wait for no writer for long. If one holds names or facts of a namespace for more than
-- a quarter of a second, its memories are left out and claimed again some seconds later: a repeated call does not store them.
-- Skips memories that a writer is changing, and those that another claim, begun before this lease was
-- committed, has locked: their ticket stays valid, and a repeated call stores them.
--
-- enricher  text or llm
-- version   of the extractor, its models and its settings
-- items     [{"memory_id", "ticket", "mentions": [{"name", "type", "start", "end", "confidence", "source", "is_about"}],
--             "times": [{"start", "end", "from_at", "to_at", "granularity", "confidence", "source"}],
--             "facts": [see store_facts]}]; times of enricher text only. Names of over 200 characters are left out
--
-- Errors  22023 not an array, or a missing or invalid value
CREATE OR REPLACE FUNCTION pgrecall.complete_extractions(enricher text, version text, items jsonb)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
-- A generic plan made while the tables were empty would scan them from then on.
SET enable_seqscan = 'off'
SET plan_cache_mode = 'force_generic_plan'
SET lock_timeout = '10s'
AS $function$
DECLARE
    place integer;
    part jsonb;
    whole jsonb;
    homes integer[];
    patience text := '250ms';
    stored integer := 0;
BEGIN
    IF enricher IS NULL OR enricher NOT IN ('text', 'llm') THEN
        RAISE EXCEPTION '"%" is not an enricher', left(enricher, 40)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass text or llm.';
    END IF;
    PERFORM _pgrecall.check_extraction(items);

    SELECT array_agg(DISTINCT m.namespace_id), jsonb_agg(r.item || jsonb_build_object('namespace_id', m.namespace_id))
    INTO homes, whole
    FROM jsonb_array_elements(items) r (item)
    CROSS JOIN LATERAL (SELECT m.namespace_id FROM pgrecall.memories m WHERE m.id = (r.item ->> 'memory_id')::bigint LIMIT 1) m;
    IF cardinality(homes) > 1 THEN
        -- All together, as a rule: each statement costs milliseconds, however little it has to store.
        BEGIN
            PERFORM FROM pgrecall.locks l WHERE l.home = ANY (homes) AND l.name = 'extractions' ORDER BY l.home FOR UPDATE;
            PERFORM set_config('lock_timeout', patience, true);
            RETURN _pgrecall.store_extractions(enricher, version, whole);
        EXCEPTION
            WHEN lock_not_available THEN
                NULL;  -- one by one, to find out where
        END;
    END IF;

    FOR place, part IN
        SELECT (r.item ->> 'namespace_id')::integer, jsonb_agg(r.item)
        FROM jsonb_array_elements(whole) r (item)
        GROUP BY 1
        ORDER BY 1
    LOOP
        BEGIN
            -- Workers take turns, and are quick.
            PERFORM FROM pgrecall.locks l WHERE l.home = place AND l.name = 'extractions' FOR UPDATE;
            PERFORM set_config('lock_timeout', patience, true);
            stored := stored + _pgrecall.store_extractions(enricher, version, part);
        EXCEPTION
            WHEN lock_not_available THEN
                PERFORM _pgrecall.postpone_jobs(enricher, part);
                patience := '20ms';
        END;
        PERFORM set_config('lock_timeout', '10s', true);
    END LOOP;
    RETURN stored;
END
$function$;

ALTER FUNCTION pgrecall.complete_extractions OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.complete_extractions TO pgrecall_embedder;
