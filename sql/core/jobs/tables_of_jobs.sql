-- Declares the tables of the embedder; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_jobs()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "workers": {"rows": "shared", "written": "INSERT, UPDATE, DELETE"},
    "embedding_jobs": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "sensitive": "claim() skips sensitive memories; cancel_embedding_job() removes the row of one that becomes so",
        "not_exported": "are the work of this database"
    },
    "embedding_failures": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "sensitive": "claim() skips sensitive memories; cancel_embedding_job() removes the row of one that becomes so",
        "not_exported": "are the work of this database"
    },
    "truncated_embeddings": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "sensitive": "tells nothing but that a text was long", "not_exported": "are the work of this database"
    }
}';
