-- Declares the tables of expansion; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_expansion()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "query_expansions": {
        "rows": "asked", "written": "INSERT, UPDATE, DELETE"
    }
}';
