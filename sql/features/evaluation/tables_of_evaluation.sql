-- Declares the tables of judged queries; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_evaluation()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "judged_queries": {"written": "INSERT, UPDATE, DELETE", "erased": "namespace_id = $1", "exported": "judged"},
    "judgements": {
        "written": "INSERT, UPDATE, DELETE",
        "sensitive": "what tenants say of their own memories; embedders read none", "erased": "namespace_id = $1",
        "exported": "judged"
    },
    "judged_vectors": {
        "written": "INSERT, UPDATE, DELETE", "erased": "namespace_id = $1",
        "not_exported": "embeddings are in the lines of their memories; those of queries are computed again"
    }
}';
