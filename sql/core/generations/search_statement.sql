-- Returns the statement of a search without filters, for the embeddings in one column: the body of the function of that name.
--
-- $1 namespace_id, $2 query_vec, $3 depth, $4 generation (in the column's name already), $5 visits.
--
-- search  nearest_embeddings, nearest_shared_embeddings or scan_embeddings
CREATE OR REPLACE FUNCTION _pgrecall.search_statement(search text, column_name text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN format(
    CASE search
        WHEN 'nearest_shared_embeddings' THEN
            -- Adding zero makes it read all visits: rows in the order of the index would end the scan when there are enough.
            'SELECT w.id, w.distance FROM ('
            'SELECT m.id, m.namespace_id, m.superseded_by, m.valid_to, m.expires_at, m.%1$I OPERATOR(pgvector.<=>) $2 AS distance '
            'FROM pgrecall.memories m WHERE m.deleted_at IS NULL AND m.%1$I IS NOT NULL '
            'ORDER BY m.%1$I OPERATOR(pgvector.<=>) $2 LIMIT $5) w '
            'WHERE w.namespace_id = $1 AND w.superseded_by IS NULL '
            'AND (w.valid_to IS NULL OR w.valid_to > now()) AND (w.expires_at IS NULL OR w.expires_at > now()) '
            'ORDER BY w.distance + 0, w.id LIMIT $3'
        ELSE
            'SELECT m.id, m.%1$I OPERATOR(pgvector.<=>) $2 FROM pgrecall.memories m '
            'WHERE m.namespace_id = $1 AND m.deleted_at IS NULL AND m.superseded_by IS NULL AND m.%1$I IS NOT NULL '
            'AND (m.valid_to IS NULL OR m.valid_to > now()) AND (m.expires_at IS NULL OR m.expires_at > now()) '
            'ORDER BY (m.%1$I OPERATOR(pgvector.<=>) $2)%2$s LIMIT $3'
    END,
    -- Adding zero keeps the planner from using the HNSW index.
    column_name, CASE search WHEN 'scan_embeddings' THEN ' + 0, m.id' END
);
