-- Declares the tables of times; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_times()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "temporal_refs": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "not_exported": "an embedder extracts them again"
    }
}';
