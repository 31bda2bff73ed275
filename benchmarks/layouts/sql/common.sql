-- What the prototypes share: what a posting holds, and the frequencies of terms.
CREATE SCHEMA layouts;

-- The document's part of BM25 (k1 1.2, b 0.75), with 24 words as the ordinary length of a memory.
CREATE FUNCTION layouts.impact(frequency double precision, length double precision)
RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN frequency * '2.2'::double precision
       / (frequency + '1.2'::double precision * ('0.25'::double precision + '0.75'::double precision * length / 24));

-- OFFSET 0 keeps the length from being counted anew for every word.
CREATE FUNCTION layouts.postings_of(search_vector tsvector)
RETURNS TABLE (term text, impact real)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT w.lexeme, layouts.impact(cardinality(w.positions), whole.length)
    FROM (
        SELECT (SELECT sum(cardinality(w.positions)) FROM unnest(search_vector) w) AS length OFFSET 0
    ) whole
    CROSS JOIN unnest(search_vector) w;
END;

-- How many memories hold a term; the term '' stands for any.
CREATE TABLE layouts.lexicon (
    namespace_id integer NOT NULL,
    term         text COLLATE "C" NOT NULL,
    memories     bigint NOT NULL,
    PRIMARY KEY (namespace_id, term)
);

-- The words of memories and how many of these hold each, to be added to the lexicon in its order.
CREATE FUNCTION layouts.add_to_lexicon(namespace_ids integer[], search_vectors tsvector[], sign integer)
RETURNS void
LANGUAGE sql
BEGIN ATOMIC
    INSERT INTO layouts.lexicon AS l (namespace_id, term, memories)
    SELECT m.namespace_id, w.term, sign * count(*)
    FROM unnest(namespace_ids, search_vectors) m (namespace_id, words)
    CROSS JOIN LATERAL unnest(ARRAY[''] || tsvector_to_array(m.words)) w (term)
    GROUP BY m.namespace_id, w.term
    ORDER BY m.namespace_id, w.term COLLATE "C"
    ON CONFLICT (namespace_id, term) DO UPDATE SET memories = l.memories + EXCLUDED.memories;
END;
