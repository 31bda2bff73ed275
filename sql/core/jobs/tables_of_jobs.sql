-- Declares the tables of the embedder; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_jobs()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "workers": {"rows": "shared", "written": "INSERT, UPDATE, DELETE"},
    "jobs": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "sensitive": "claims skip sensitive memories; queue_extraction() and cancel_embedding_job() remove the rows of one that becomes so",
        "not_exported": "are the work of this database"
    },
    "truncated_embeddings": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "sensitive": "tells nothing but that a text was long", "not_exported": "are the work of this database"
    }
}';
