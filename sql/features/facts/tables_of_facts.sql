-- Declares the tables of facts; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_facts()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "relationships": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "erased": "source_id = ANY ($3) OR target_id = ANY ($3)", "not_exported": "an embedder extracts them again"
    },
    "relationship_evidence": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "not_exported": "an embedder extracts them again"
    },
    "relation_labels": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "erased": "namespace_id = $1",
        "not_exported": "manual ones do not: use `pg_dump`"
    }
}';
