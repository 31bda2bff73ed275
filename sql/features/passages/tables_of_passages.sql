-- Declares the tables of passages; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_passages()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "passages": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "not_exported": "embeddings are in the lines of their memories; those of queries are computed again"
    }
}';
