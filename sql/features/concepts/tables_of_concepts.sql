-- Declares the tables of concepts; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_concepts()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "concepts": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "erased": "id = ANY ($3)",
        "not_exported": "an embedder extracts them again"
    },
    "concept_aliases": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "erased": "concept_id = ANY ($3)",
        "not_exported": "manual ones do not: use `pg_dump`"
    },
    "concept_merges": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "erased": "concept_id = ANY ($3)",
        "not_exported": "manual ones do not: use `pg_dump`"
    },
    "mentions": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "not_exported": "an embedder extracts them again"
    },
    "concept_keys": {
        "embedders": true, "written": "INSERT, DELETE", "erased": "concept_id = ANY ($3)",
        "not_exported": "an embedder extracts them again"
    },
    "name_doubts": {
        "embedders": true, "written": "INSERT, UPDATE, DELETE", "erased": "concept_id = ANY ($3) OR other_id = ANY ($3)",
        "not_exported": "an embedder extracts them again"
    },
    "graph_changes": {"not_exported": "an embedder extracts them again"}
}';
