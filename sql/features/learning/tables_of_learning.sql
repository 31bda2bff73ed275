-- Declares the tables of learned settings; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_learning()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "learned_settings": {"written": "INSERT, UPDATE, DELETE", "exported": "learned"}
}';
