-- The three queries of an application that fuses in its own process: by words, by meaning, by names.
CREATE FUNCTION bench.by_words(scope text, query text, depth integer)
RETURNS TABLE (id text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT d.id
    FROM bench.documents d
    WHERE d.namespace = scope AND d.fts @@ bench.any_word(query)
    ORDER BY ts_rank(d.fts, bench.any_word(query)) DESC, d.id
    LIMIT depth;
END;

CREATE FUNCTION bench.by_meaning(scope text, query_embedding vector, depth integer)
RETURNS TABLE (id text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT d.id
    FROM bench.documents d
    WHERE d.namespace = scope AND d.embedding IS NOT NULL
    ORDER BY d.embedding <=> query_embedding, d.id
    LIMIT depth;
END;

-- Names are the question's words with a capital letter, its first one left out where it is a stop word.
CREATE FUNCTION bench.by_names(scope text, query text, depth integer)
RETURNS TABLE (id text)
LANGUAGE sql STABLE
BEGIN ATOMIC
    WITH named AS (
        SELECT bench.any_word(string_agg(found.word[1], ' ')) AS names
        FROM regexp_matches(query, '\m[[:upper:]]\w+', 'g') AS found (word)
    )
    SELECT d.id
    FROM named n
    JOIN bench.documents d ON d.fts @@ n.names
    WHERE d.namespace = scope
    ORDER BY ts_rank(d.fts, n.names) DESC, d.id
    LIMIT depth;
END;
