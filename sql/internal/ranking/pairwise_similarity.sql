-- How alike each two of some memories are, 0 to 1: by cosine, or by the share of their words that they have in common.
--
-- Words count where one of the two has no embedding, too: Jaccard's index of their lexemes.
--
-- by_words    whether only words count
-- generation  whose embeddings
--
-- Returns n * n numbers, those of the first memory with each of them first; n = cardinality(memory_ids).
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

COMMENT ON FUNCTION _pgrecall.pairwise_similarity IS
    'How alike each two of some memories are, by cosine or by the words they share: n * n numbers, row by row.';
