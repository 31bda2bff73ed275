-- Returns the pairwise similarity of memories, 0 to 1, by cosine or by word overlap: n * n numbers, row by row.
--
-- Word overlap is the Jaccard index of their lexemes. It also applies if one of the two has no embedding.
--
-- by_words    use word overlap only
-- generation  the embedding generation to compare
--
-- Returns n * n numbers, row by row; n = cardinality(memory_ids).
CREATE OR REPLACE FUNCTION _pgrecall.pairwise_similarity(memory_ids bigint[], by_words boolean, generation integer)
RETURNS double precision[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN (
        WITH memory AS MATERIALIZED (
            SELECT u.place, _pgrecall.embedding_of(m, generation) AS embedding, m.search_vector, length(m.search_vector) AS words
            FROM unnest(memory_ids) WITH ORDINALITY u (id, place)
            JOIN pgrecall.memories m ON m.id = u.id
        ), word AS MATERIALIZED (
            SELECT m.place, l.lexeme FROM memory m CROSS JOIN LATERAL unnest(tsvector_to_array(m.search_vector)) l (lexeme)
        ), common AS MATERIALIZED (
            SELECT a.place AS one, b.place AS other, count(*) AS words
            FROM word a
            JOIN word b ON b.lexeme = a.lexeme
            GROUP BY a.place, b.place
        )
        SELECT array_agg(
                   COALESCE(
                       CASE WHEN NOT by_words THEN 1 - (a.embedding OPERATOR(pgvector.<=>) b.embedding) END,
                       COALESCE(c.words, 0) / greatest(a.words + b.words - COALESCE(c.words, 0), 1)::double precision
                   )
                   ORDER BY a.place, b.place
               )
        FROM memory a
        CROSS JOIN memory b
        LEFT JOIN common c ON c.one = a.place AND c.other = b.place
    );
END
$function$;
