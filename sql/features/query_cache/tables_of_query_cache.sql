-- Declares the tables of cached queries; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_query_cache()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "query_embeddings": {
        "rows": "asked", "written": "INSERT, UPDATE, DELETE"
    }
}';
