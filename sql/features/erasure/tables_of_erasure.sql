-- Declares the tables of erasure; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_erasure()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "erasures": {
        "rows": "own", "sensitive": "ids in receipts; only administrators read them",
        "not_exported": "do not: they are about roles and rows of this database", "kept": "the receipts"
    },
    "erased_messages": {
        "sensitive": "hashes alone", "not_exported": "do not: they are about roles and rows of this database", "erased": "false"
    }
}';
