-- Returns the texts to embed for the passages of a memory, each after its title. NULL for a short memory.
CREATE OR REPLACE FUNCTION _pgrecall.passage_texts(title text, content text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT array_agg(
        concat_ws(E'\n', passage_texts.title, substr(passage_texts.content, b.starts_at + 1, b.ends_at - b.starts_at))
        ORDER BY b.number
    )
    FROM _pgrecall.passage_bounds(passage_texts.content) b
);
