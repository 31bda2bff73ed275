-- Declares the tables of extraction; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_extraction()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "llm_usage": {"rows": "shared", "written": "INSERT, UPDATE, DELETE"},
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
