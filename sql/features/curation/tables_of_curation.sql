-- Declares the tables of curation; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_curation()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "curations": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "sensitive": "decisions of tenants; withdraw_curation() removes them when a memory becomes sensitive",
        "not_exported": "the changes are in the history; they cannot be undone there"
    }
}';
