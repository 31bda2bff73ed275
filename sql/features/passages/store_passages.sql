-- Stores the embeddings of passages, and replaces earlier ones of the same memories.
--
-- passages  for each of memory_ids an array of vectors as text, in the order of passage_bounds(), or null. A null instead
--           of a vector leaves that passage out: the model could not embed it
--
-- Errors  22023 another number of vectors than passages, wrong dimension, a zero vector, not an array
CREATE OR REPLACE FUNCTION _pgrecall.store_passages(generation pgrecall.generations, memory_ids bigint[], passages jsonb)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    refused record;
    vectors text[];
BEGIN
    IF jsonb_path_exists(passages, 'strict $[*] ? (@.type() != "array" && @.type() != "null")')
       OR jsonb_path_exists(passages, 'strict $[*] ? (@.type() == "array")[*] ? (@.type() != "string" && @.type() != "null")') THEN
        RAISE EXCEPTION 'the passages of a memory are not an array of vectors'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass [["[0.1, …]", …], null, …], in the order of memory_ids.';
    END IF;
    SELECT array_agg(v.vector) INTO vectors
    FROM jsonb_array_elements(passages) g (given)
    CROSS JOIN LATERAL jsonb_array_elements_text(CASE jsonb_typeof(g.given) WHEN 'array' THEN g.given ELSE '[]' END) v (vector)
    WHERE v.vector IS NOT NULL;
    PERFORM _pgrecall.check_vectors(vectors);
    SELECT pgvector.vector_dims(v.embedding) AS dimension INTO refused
    FROM unnest(vectors) u (vector)
    CROSS JOIN LATERAL (SELECT u.vector::pgvector.halfvec AS embedding OFFSET 0) v
    WHERE pgvector.vector_dims(v.embedding) IS DISTINCT FROM generation.dimension OR pgvector.l2_norm(v.embedding) = 0
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the embedding of a passage has % dimensions or is zero', refused.dimension
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('Pass a nonzero vector of %s dimensions.', generation.dimension);
    END IF;
    SELECT m.id, jsonb_array_length(g.given) AS given, n.wanted INTO refused
    FROM unnest(memory_ids) WITH ORDINALITY u (id, place)
    JOIN jsonb_array_elements(passages) WITH ORDINALITY g (given, place) ON g.place = u.place
    JOIN pgrecall.memories m ON m.id = u.id
    CROSS JOIN LATERAL (SELECT count(*) AS wanted FROM _pgrecall.passage_bounds(m.content)) n
    WHERE jsonb_typeof(g.given) = 'array' AND jsonb_array_length(g.given) <> n.wanted
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'memory % has % passages, not %', refused.id, refused.wanted, refused.given
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass one vector for each text that claim() returned.';
    END IF;
    DELETE FROM pgrecall.passages p WHERE p.memory_id = ANY (memory_ids) AND p.generation_id = generation.id;
    INSERT INTO pgrecall.passages (memory_id, generation_id, number, namespace_id, starts_at, ends_at, embedding)
    SELECT m.id, generation.id, b.number, m.namespace_id, b.starts_at, b.ends_at, v.vector::pgvector.halfvec
    FROM unnest(memory_ids) WITH ORDINALITY u (id, place)
    JOIN jsonb_array_elements(passages) WITH ORDINALITY g (given, place) ON g.place = u.place AND jsonb_typeof(g.given) = 'array'
    JOIN pgrecall.memories m ON m.id = u.id
    CROSS JOIN LATERAL _pgrecall.passage_bounds(m.content) b
    JOIN LATERAL jsonb_array_elements_text(g.given) WITH ORDINALITY v (vector, number) ON v.number = b.number
    WHERE v.vector IS NOT NULL;
END
$function$;
