-- Declares the tables of namespaces, grants and locks; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_tenancy()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "namespaces": {
        "home": "id", "embedders": true, "written": "INSERT (name, language), UPDATE (languages)",
        "exported": "namespace", "kept": "erase_namespace_rows() deletes it last"
    },
    "grants": {
        "rows": "own",
        "policies": {"read": {
            "for": "SELECT",
            "using": "(SELECT _pgrecall.sees_all()) OR pg_has_role((SELECT pgrecall.session_role()), role, ''USAGE'')"
        }},
        "not_exported": "do not: they are about roles and rows of this database"
    },
    "granted": {
        "rows": "own",
        "policies": {"read": {
            "for": "SELECT",
            "using": "(SELECT _pgrecall.sees_all()) OR pg_has_role((SELECT pgrecall.session_role()), role, ''USAGE'')"
        }}
    },
    "locks": {
        "home": "home", "embedders": true, "written": "INSERT, UPDATE, DELETE",
        "not_exported": "computed as memories are stored",
        "kept": "create_lock_rows() deletes them with the namespace"
    }
}';
