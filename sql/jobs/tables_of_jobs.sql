-- Declares the tables of the embedder; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_jobs()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "workers": {"rows": "shared", "written": "INSERT, UPDATE, DELETE"},
    "llm_usage": {"rows": "shared", "written": "INSERT, UPDATE, DELETE"},
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
    },
    "passages": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "not_exported": "embeddings are in the lines of their memories; those of queries are computed again"
    },
    "extractions": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "not_exported": "an embedder extracts them again"
    },
    "llm_answers": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "not_exported": "an embedder extracts them again"
    },
    "entity_rules": {
        "embedders": true, "policies": {"common": {"for": "SELECT", "using": "namespace_id IS NULL"}},
        "not_exported": "manual ones do not: use `pg_dump`"
    }
}';

COMMENT ON FUNCTION _pgrecall.tables_of_jobs IS 'Declares the tables of the embedder.';
