-- Finds clusters of memories of a namespace that say the same or nearly the same, largest first.
--
-- Equal texts count at any distance, others by cosine. Each distinct text looks up its nearest neighbours in the dense
-- index, so memories are not compared pairwise. Sensitive, forgotten and superseded memories are excluded.
--
-- namespace   NULL: the setting pgrecall.namespace
-- similarity  minimum cosine; NULL: the setting duplicate_similarity
-- max_memories     how many memories to check, newest first
-- cluster     in the result: id of its oldest memory
-- cosine      to that memory; NULL if either has no embedding
--
-- Errors  42704 no such namespace;  22023 similarity is not between 0 and 1, max_memories is negative
CREATE OR REPLACE FUNCTION pgrecall.duplicates(
    namespace text DEFAULT NULL, similarity double precision DEFAULT NULL, max_memories integer DEFAULT 10000
)
RETURNS TABLE (cluster bigint, memory_id bigint, cosine double precision, created_at timestamptz, content text)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    neighbours CONSTANT integer := 8;
    private_rows CONSTANT integer := COALESCE(_pgrecall.private_exact_rows(), -1);
    home integer := _pgrecall.known_namespace(pgrecall.namespace_name(duplicates.namespace));
    wanted double precision := COALESCE(duplicates.similarity, (_pgrecall.effective_settings()).duplicate_similarity);
BEGIN
    IF wanted NOT BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION 'similarity cannot be %', wanted
            USING ERRCODE = 'invalid_parameter_value', HINT = 'It is a cosine between 0 and 1.';
    END IF;
    PERFORM _pgrecall.parse_row_limit(max_memories);
    RETURN QUERY EXECUTE format($statement$
        WITH RECURSIVE looked AS MATERIALIZED (
            SELECT l.id, min(l.id) OVER (PARTITION BY l.content_hash) AS first_id
            FROM (
                SELECT m.id, m.content_hash
                FROM pgrecall.memories m
                WHERE m.namespace_id = $1 AND NOT m.is_sensitive AND m.deleted_at IS NULL AND m.superseded_by IS NULL
                ORDER BY m.id DESC
                LIMIT $4
            ) l
        ), near AS MATERIALIZED (
            SELECT l.id AS one, o.first_id AS other
            FROM looked l
            JOIN pgrecall.memories m ON m.id = l.id
            CROSS JOIN LATERAL (
                SELECT n.id, _pgrecall.embedding_of(n, $2) OPERATOR(pgvector.<=>) _pgrecall.embedding_of(m, $2) AS distance
                FROM pgrecall.memories n
                WHERE n.namespace_id = $1 AND _pgrecall.embedding_of(n, $2) IS NOT NULL
                  AND NOT n.is_sensitive AND n.deleted_at IS NULL AND n.superseded_by IS NULL
                ORDER BY (_pgrecall.embedding_of(n, $2) OPERATOR(pgvector.<=>) _pgrecall.embedding_of(m, $2))%s
                LIMIT $5
            ) n
            JOIN looked o ON o.id = n.id
            WHERE l.id = l.first_id AND _pgrecall.embedding_of(m, $2) IS NOT NULL
              AND n.distance <= 1 - $3 + 1e-9 AND o.first_id <> l.id
        ), edge AS MATERIALIZED (
            SELECT n.one, n.other FROM near n UNION SELECT n.other, n.one FROM near n
        ), reached (root, id) AS (
            -- Start from memories without an older neighbour: the oldest of a cluster is one of them.
            SELECT e.one, e.one FROM edge e GROUP BY e.one HAVING min(e.other) > e.one
            UNION
            SELECT r.root, e.other FROM reached r JOIN edge e ON e.one = r.id
        ), root AS MATERIALIZED (
            SELECT r.id, min(r.root) AS cluster FROM reached r GROUP BY r.id
        ), clustered AS MATERIALIZED (
            SELECT l.id, COALESCE(r.cluster, l.first_id) AS cluster,
                   count(*) OVER (PARTITION BY COALESCE(r.cluster, l.first_id)) AS members
            FROM looked l
            LEFT JOIN root r ON r.id = l.first_id
        )
        SELECT c.cluster, m.id, 1 - (_pgrecall.embedding_of(m, $2) OPERATOR(pgvector.<=>) _pgrecall.embedding_of(f, $2)),
               m.created_at, m.content
        FROM clustered c
        JOIN pgrecall.memories m ON m.id = c.id
        JOIN pgrecall.memories f ON f.id = c.cluster
        WHERE c.members > 1
        ORDER BY c.members DESC, c.cluster, m.id
    $statement$,
        -- Adding zero keeps the planner from using the HNSW index.
        CASE WHEN _pgrecall.namespace_size(home, least(private_rows, 2147483646) + 1) <= private_rows THEN ' + 0' END
    )
    USING home, pgrecall.active_generation(), wanted, max_memories, neighbours;
END
$function$;

ALTER FUNCTION pgrecall.duplicates OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.duplicates TO pgrecall_reader;
