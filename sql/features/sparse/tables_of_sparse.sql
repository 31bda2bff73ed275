-- Declares the table of sparse terms; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_sparse()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "sparse_terms": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "not_exported": "an embedder computes them again"
    }
}';
