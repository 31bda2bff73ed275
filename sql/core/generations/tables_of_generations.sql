-- Declares the tables of embedding models and generations; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_generations()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "embedding_models": {"rows": "shared", "readable": true},
    "generations": {"rows": "shared", "readable": true},
    "embedding_backgrounds": {"not_exported": "computed as memories are stored"}
}';
