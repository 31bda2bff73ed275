-- Declares the tables of memories; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_write()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "memories": {
        "written": "INSERT, UPDATE",
        "policies": {"embedder": {"using": "NOT is_sensitive AND (SELECT _pgrecall.is_embedder())"}},
        "sensitive": "the memories themselves", "erased": "id = ANY ($2)", "exported": null
    }
}';
