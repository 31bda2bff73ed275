-- Declares the tables of expansion; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_expansion()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "query_expansions": {
        "rows": "own", "written": "INSERT, UPDATE, DELETE",
        "policies": {"asked": {
            "using": "(SELECT _pgrecall.is_embedder()) OR role = (SELECT pgrecall.session_role())"
        }}
    }
}';
