-- Declares the tables of the installation; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_status()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "alembic_version": {"rows": "shared", "readable": true},
    "installation": {"rows": "shared", "readable": true}
}';
