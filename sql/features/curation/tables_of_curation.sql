-- Declares the tables of curation; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_curation()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "curation_jobs": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "not_exported": "are the work of this database"
    },
    "curations": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "sensitive": "decisions of tenants; withdraw_curation() removes them when a memory becomes sensitive",
        "not_exported": "the changes are in the history; they cannot be undone there"
    }
}';
