-- The plain table that the systems beside pgrecall search: text, its lexemes, its embedding.
--
-- No index on the embedding: a nearest-neighbour index answers approximately, and quality is what is measured here.
CREATE SCHEMA bench;

CREATE UNLOGGED TABLE bench.staging (
    id text, namespace text, content text, importance real, embedding vector
);

CREATE UNLOGGED TABLE bench.documents (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    content text NOT NULL,
    importance real NOT NULL,
    fts tsvector NOT NULL,
    embedding vector  -- NULL where the memory is sensitive
);

CREATE INDEX documents_fts_idx ON bench.documents USING gin (fts);
CREATE INDEX documents_namespace_idx ON bench.documents (namespace);

-- Moves what was staged, read in the session's text-search configuration.
CREATE FUNCTION bench.fill()
RETURNS void
LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO bench.documents (id, namespace, content, importance, fts, embedding)
    SELECT s.id, s.namespace, s.content, s.importance, to_tsvector(s.content), s.embedding FROM bench.staging s;
    TRUNCATE bench.staging;
    ANALYZE bench.documents;
END
$function$;

-- The tsquery that wants any of the words that plainto_tsquery wants all of.
CREATE FUNCTION bench.any_word(query text)
RETURNS tsquery
LANGUAGE sql STABLE
RETURN replace(plainto_tsquery(query)::text, ' & ', ' | ')::tsquery;
