-- Returns the first of the given memories that is a near-duplicate of another one, by equal text or a high cosine; NULL if
-- none is. A less trusted memory hides no more trusted one.
--
-- among       the memories to search, in order
-- similarity  minimum cosine of a near-duplicate
CREATE OR REPLACE FUNCTION _pgrecall.near_duplicate_of(id bigint, among bigint[], similarity double precision, generation integer)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT other.id
    FROM unnest(among) WITH ORDINALITY a (id, place)
    JOIN pgrecall.memories other ON other.id = a.id
    JOIN pgrecall.memories m ON m.id = near_duplicate_of.id
    WHERE other.origin >= m.origin
      AND (other.content_hash = m.content_hash
       OR 1 - (_pgrecall.embedding_of(other, generation) OPERATOR(pgvector.<=>) _pgrecall.embedding_of(m, generation))
          >= near_duplicate_of.similarity)
    ORDER BY a.place
    LIMIT 1
);
