-- Finds concepts whose names are nearer to one than unrelated names of the namespace are: those to ask a language model about.
--
-- A cosine is measured against the background: the mean of up to 200 name embeddings, and the deviation of their cosines once the
-- mean is subtracted. So the threshold means the same for every model. Embeddings alone merge nothing: "siemens" and "siemens
-- energy" are as near as two spellings of one name. Below 20 names with embeddings there is no background. Persons are left out:
-- neither vectors nor a language model know whether "anna" is "anne".
CREATE OR REPLACE FUNCTION _pgrecall.doubtful_concepts(ids bigint[], namespace_id integer)
RETURNS TABLE (id bigint, alike_id bigint, nearness real)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    min_sample CONSTANT integer := 20;
    generation CONSTANT integer := pgrecall.active_generation();
    minimum CONSTANT double precision := pgrecall.stored_setting('resolve_embedding')::double precision;
    background record;
BEGIN
    EXECUTE $statement$
        WITH sample AS MATERIALIZED (
            SELECT pgvector.l2_normalize(c.embedding) AS embedding, row_number() OVER (ORDER BY c.key) AS place
            FROM (
                SELECT a.alias AS key, _pgrecall.name_embedding_of(c, $1) AS embedding
                FROM pgrecall.concept_aliases a
                JOIN pgrecall.concepts c ON c.id = a.concept_id AND c.key = a.alias
                WHERE a.namespace_id = $2
                ORDER BY a.alias
                LIMIT 1000
            ) c
            WHERE c.embedding IS NOT NULL
            LIMIT 200
        ), center AS MATERIALIZED (
            SELECT pgvector.avg(s.embedding) AS mean, count(*) AS size FROM sample s
        )
        SELECT c.mean, c.size, sqrt(avg((1 - d.distance) ^ 2)) AS deviation
        FROM center c
        CROSS JOIN sample a
        JOIN sample b ON b.place - a.place IN (7, 11, 13)
        CROSS JOIN LATERAL (
            SELECT NULLIF(
                (a.embedding OPERATOR(pgvector.-) c.mean) OPERATOR(pgvector.<=>) (b.embedding OPERATOR(pgvector.-) c.mean), 'NaN'
            ) AS distance
        ) d
        GROUP BY c.mean, c.size
    $statement$
    INTO background USING generation, namespace_id;
    IF background.size IS NULL OR background.size < min_sample OR COALESCE(background.deviation, 0) = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE $statement$
        SELECT own.id, near.id, near.nearness
        FROM (
            SELECT c.id, c.key, c.type, pgvector.l2_normalize(_pgrecall.name_embedding_of(c, $1)) AS embedding
            FROM pgrecall.concepts c
            WHERE c.id = ANY ($2) AND _pgrecall.name_embedding_of(c, $1) IS NOT NULL AND c.type NOT IN ('FILE', 'PERSON')
        ) own
        CROSS JOIN LATERAL (
            SELECT n.id, ((1 - (
                       (own.embedding OPERATOR(pgvector.-) $3) OPERATOR(pgvector.<=>)
                       (pgvector.l2_normalize(_pgrecall.name_embedding_of(other, $1)) OPERATOR(pgvector.-) $3)
                   )) / $4)::real AS nearness
            FROM _pgrecall.nearest_concepts(own.id, 6) n
            CROSS JOIN LATERAL (SELECT o.* FROM pgrecall.concepts o WHERE o.id = n.id LIMIT 1) other
            WHERE n.id <> own.id AND other.type NOT IN ('FILE', 'PERSON')
              AND (own.type = other.type OR 'CONCEPT' IN (own.type, other.type))
              AND _pgrecall.discriminating_tokens(own.key) = _pgrecall.discriminating_tokens(other.key)
        ) near
        WHERE near.nearness >= $5 AND NOT _pgrecall.is_exact_name(own.id) AND NOT _pgrecall.is_exact_name(near.id)
          AND NOT _pgrecall.was_split(own.id, near.id)
    $statement$
    USING generation, ids, background.mean, background.deviation, minimum;
END
$function$;
