-- Declares the tables of the history of memories; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_history()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "memory_changes": {
        "written": "INSERT, DELETE",
        "policies": {"embedder": {"for": "INSERT", "check": "(SELECT _pgrecall.is_embedder())"}},
        "sensitive": "the history of every memory; embedders read none", "exported": "change"
    }
}';
