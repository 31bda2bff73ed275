-- For each of some memories, how alike it is to the most alike of those chosen so far, once one more is chosen.
--
-- By cosine, and by the words they share (Jaccard) where one has no embedding.
--
-- likeness  as it was before, 0 to 1, in the order of memory_ids
-- by_words  whether only words count
CREATE OR REPLACE FUNCTION pgrecall.more_alike(
    likeness double precision[], memory_ids bigint[], chosen bigint, by_words boolean
)
RETURNS double precision[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (
    SELECT array_agg(
               greatest(l.likeness, COALESCE(
                   CASE WHEN NOT by_words THEN 1 - (m.embedding <=> c.embedding) END,
                   pgrecall.word_overlap(m.search_vector, c.search_vector)
               ))
               ORDER BY l.place
           )
    FROM unnest(more_alike.likeness, memory_ids) WITH ORDINALITY l (likeness, id, place)
    JOIN pgrecall.memories m ON m.id = l.id
    JOIN pgrecall.memories c ON c.id = chosen
);

COMMENT ON FUNCTION pgrecall.more_alike IS
    'For each of some memories, its likeness to the most alike of those chosen, once one more is chosen.';
