-- Stores the sparse terms of claimed memories, and replaces earlier ones. Returns how many memories were completed.
--
-- The terms are words, which are analysed in the language of the memory as its own words are. The 128 with the highest weights
-- are kept. A ticket becomes invalid when the text changes or the memory becomes sensitive or is forgotten: its terms are dropped.
-- Stores nothing if the setting extract_sparse is empty.
--
-- Waits for nobody for long. Skips memories that a writer is changing, and stores nothing if another transaction holds something for
-- more than a quarter of a second: the tickets stay valid, and a repeated call stores them.
--
-- version  the model's name
-- items    [{"memory_id", "ticket", "terms": {"word": weight, …}}]: weights above 0, 3 at most; 1 is that of the strongest word of
--          the text. No terms: the model cannot read the text
--
-- Errors  22023 not an array, or an invalid value;  54000 more than 500 terms
CREATE OR REPLACE FUNCTION pgrecall.complete_sparse(version text, items jsonb)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
-- A generic plan made while the tables were empty would scan them from then on.
SET enable_seqscan = 'off'
SET plan_cache_mode = 'force_generic_plan'
SET lock_timeout = '250ms'
AS $function$
DECLARE
    wrong bigint;
    ids bigint[];
    texts jsonb;
BEGIN
    IF jsonb_typeof(items) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'items are no JSON array'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass [{"memory_id": 1, "ticket": 2, "terms": {"word": 1.0}}].';
    END IF;
    PERFORM _pgrecall.check_typed(c.item, 'item ' || c.place, ids => '{memory_id,ticket}')
    FROM jsonb_array_elements(items) WITH ORDINALITY c (item, place);
    SELECT min(i.place) INTO wrong
    FROM jsonb_array_elements(items) WITH ORDINALITY i (item, place)
    WHERE jsonb_typeof(i.item -> 'terms') IS DISTINCT FROM 'object'
       OR EXISTS (
            SELECT FROM jsonb_each(CASE WHEN jsonb_typeof(i.item -> 'terms') = 'object' THEN i.item -> 'terms' ELSE '{}' END) t
            WHERE CASE WHEN jsonb_typeof(t.value) = 'number' THEN (t.value #>> '{}')::numeric NOT BETWEEN 0 AND 3 ELSE true END
               OR length(t.key) > 200
        );
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'item %: expected terms, an object of words with weights from 0 to 3', wrong
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Nothing of this call was stored.';
    END IF;
    SELECT max(i.place) INTO wrong
    FROM jsonb_array_elements(items) WITH ORDINALITY i (item, place)
    WHERE (SELECT count(*) FROM jsonb_object_keys(i.item -> 'terms')) > 500;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'item % has more than 500 terms', wrong
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Pass those with the highest weights.';
    ELSIF pgrecall.stored_setting('extract_sparse') = '' THEN
        RETURN 0;
    END IF;

    SELECT array_agg(x.memory_id ORDER BY x.memory_id), jsonb_agg(r.item ORDER BY x.memory_id) INTO ids, texts
    FROM jsonb_array_elements(items) r (item)
    CROSS JOIN LATERAL (
        SELECT x.memory_id
        FROM pgrecall.jobs x
        JOIN pgrecall.memories m ON m.id = x.memory_id
        WHERE x.memory_id = (r.item ->> 'memory_id')::bigint AND x.ticket = (r.item ->> 'ticket')::bigint
          AND x.kind = 'sparse' AND x.generation_id = 0 AND NOT m.is_sensitive AND m.deleted_at IS NULL
        LIMIT 1
        FOR UPDATE OF x SKIP LOCKED
        FOR KEY SHARE OF m SKIP LOCKED
    ) x;
    IF ids IS NULL THEN
        RETURN 0;
    END IF;
    DELETE FROM pgrecall.sparse_terms s WHERE s.memory_id = ANY (ids);
    INSERT INTO pgrecall.sparse_terms (memory_id, namespace_id, weights)
    SELECT m.id, m.namespace_id, v.weights
    FROM jsonb_array_elements(texts) r (item)
    JOIN pgrecall.memories m ON m.id = (r.item ->> 'memory_id')::bigint
    CROSS JOIN LATERAL (
        SELECT _pgrecall.sparse_vector(array_agg(w.lexeme), array_agg(w.weight)) AS weights
        FROM (
            SELECT a.lexeme, max((t.value #>> '{}')::double precision) AS weight
            FROM jsonb_each(r.item -> 'terms') t
            CROSS JOIN LATERAL unnest(_pgrecall.analyze_text(_pgrecall.stored_language(m.language), t.key)) a
            WHERE (t.value #>> '{}')::numeric >= 0.000001
            GROUP BY a.lexeme
            ORDER BY weight DESC, a.lexeme
            LIMIT 128
        ) w
    ) v
    WHERE v.weights IS NOT NULL
    ORDER BY m.id
    ON CONFLICT DO NOTHING;
    PERFORM _pgrecall.note_extractions('sparse', version, ids);
    RETURN cardinality(ids);
EXCEPTION
    WHEN lock_not_available THEN
        RETURN 0;
END
$function$;

ALTER FUNCTION pgrecall.complete_sparse OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.complete_sparse TO pgrecall_embedder;
