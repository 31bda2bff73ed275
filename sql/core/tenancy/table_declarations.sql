-- Every table of schema pgrecall: what the features declare of it (functions tables_of_…), and what the catalog knows.
--
-- Policies, grants, triggers, erasure and export loop over these rows. What is not declared is refused: a table that no feature
-- declares has no privilege and no policy, and a wrong declaration stops the installation. Keys of a declaration, none required:
--
-- rows          whose the rows are: 'shared', no tenant's, privileges alone decide; 'own', only those that "policies" opens;
--               'asked', of questions: those of the role that asked, named in the column role, and for embedders all.
--               Without it: those of the namespace that a column names, otherwise those of the memory in memory_id
-- home          the column that names the namespace, if not namespace_id
-- written       privileges of the functions for tenants and embedders, besides SELECT; administrators have those of UPDATE
-- embedders     true: for embedders, every row is theirs
-- readable      true: readers and embedders have SELECT; only for shared rows
-- truncated     true: TRUNCATE for the functions that see every row
-- policies      more policies by name, none of those that policies.sql makes: "for" (a command, or ALL), "using", "check"
-- sensitive     why rows may refer to sensitive memories. Without it, memory_id refuses them, and no other column refers to a memory
-- exported      the kind of its lines in an export; null: lines of memories
-- not_exported  how its rows come back, as docs/backup.md says
-- erased        condition on the rows that the erasure of memories may delete: $1 namespace, $2 memories, $3 their concepts,
--               $4 their words. Without it: rows that refer to the memories
-- kept          why erasures delete nothing from it by themselves
--
-- Of the catalog:
--
-- columns_of_memories  columns that refer to a memory
-- is_of_memory         each row has a memory, and no namespace of its own
--
-- Errors  22023 a wrong declaration
CREATE OR REPLACE FUNCTION _pgrecall.table_declarations()
RETURNS TABLE (
    name text, rows text, home text, columns_of_memories text[], is_of_memory boolean, written text, has_embedders boolean,
    is_readable boolean, is_truncated boolean, policies jsonb, refuses_sensitive boolean, is_exported boolean, exported text,
    not_exported text, erased text, is_kept boolean
)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
#variable_conflict use_column
DECLARE
    keys CONSTANT text[] := ARRAY[
        'rows', 'home', 'written', 'embedders', 'readable', 'truncated', 'policies', 'sensitive', 'exported', 'not_exported',
        'erased', 'kept'
    ];
    of_asker CONSTANT jsonb := '{
        "asked": {"using": "(SELECT _pgrecall.is_embedder()) OR role = (SELECT pgrecall.session_role())"}
    }'::jsonb;
    found jsonb;
    wrong record;
BEGIN
    EXECUTE (
        SELECT format('SELECT jsonb_agg(jsonb_build_object(''name'', t.key, ''said'', t.value)) FROM (%s) t', string_agg(
            format('SELECT * FROM jsonb_each(_pgrecall.%I())', p.proname), ' UNION ALL ' ORDER BY p.proname
        ))
        FROM pg_proc p
        WHERE p.pronamespace = '_pgrecall'::regnamespace AND p.proname ^@ 'tables_of_'
    ) INTO found;

    -- Whatever is not exactly as expected would open something.
    FOR wrong IN
        SELECT t.name, CASE
            WHEN c.oid IS NULL THEN 'there is no such table'
            WHEN count(*) OVER (PARTITION BY t.name) > 1 THEN 'it is declared twice'
            WHEN t.said - keys <> '{}' THEN 'it has an unknown key'
            WHEN t.said ->> 'rows' NOT IN ('shared', 'own', 'asked') THEN 'rows are shared, own or asked'
            WHEN t.said ->> 'rows' = 'asked' AND NOT k.names @> '{role}' THEN 'no column says who asked'
            WHEN t.said ->> 'rows' = 'shared' AND (k.of_tenants OR t.said ? 'home') THEN 'rows of tenants are not shared'
            WHEN t.said ? 'readable' AND t.said ->> 'rows' IS DISTINCT FROM 'shared' THEN 'only shared rows are readable'
            WHEN NOT t.said ? 'rows' AND NOT k.of_tenants AND NOT t.said ? 'home' THEN 'it does not say whose the rows are'
            WHEN t.said ? 'home' AND NOT k.names @> ARRAY[t.said ->> 'home'] THEN 'there is no such column'
            WHEN k.referring <> '{memory_id}' AND NOT t.said ? 'sensitive' THEN 'only memory_id refuses sensitive memories'
            WHEN t.said ->> 'written' !~ '^(INSERT|UPDATE|DELETE)( \([a-z_, ]+\))?(, (INSERT|UPDATE|DELETE)( \([a-z_, ]+\))?)*$'
                THEN 'written is a list of INSERT, UPDATE, DELETE'
            WHEN EXISTS (
                SELECT FROM jsonb_each(t.said -> 'policies') p (name, said)
                WHERE p.said - '{for,using,check}'::text[] <> '{}'
                   OR p.said ->> 'for' NOT IN ('ALL', 'SELECT', 'INSERT', 'UPDATE', 'DELETE')
                   OR NOT p.said ? CASE p.said ->> 'for' WHEN 'INSERT' THEN 'check' ELSE 'using' END
            ) THEN 'a policy has no condition'
            WHEN t.said -> 'policies' ?| CASE
                WHEN t.said ->> 'rows' = 'own' THEN '{trusted,asked}' ELSE '{trusted,asked,all,read,insert,update,delete}'
            END::text[] THEN 'a policy has a name of ours'
            WHEN t.said ? 'exported' AND t.said ? 'not_exported' THEN 'it is exported or not'
        END AS problem
        FROM jsonb_to_recordset(found) t (name text, said jsonb)
        LEFT JOIN pg_class c ON c.relnamespace = 'pgrecall'::regnamespace AND c.relname = t.name AND c.relkind = 'r'
        CROSS JOIN LATERAL (
            SELECT array_agg(a.attname::text), COALESCE(bool_or(a.attname IN ('namespace_id', 'memory_id', 'role')), false),
                   array_agg(a.attname::text) FILTER (WHERE a.attname = 'memory_id' OR EXISTS (
                       SELECT FROM pg_constraint r
                       WHERE r.conrelid = c.oid AND r.contype = 'f' AND a.attnum = ANY (r.conkey)
                         AND r.confrelid = 'pgrecall.memories'::regclass
                   ))
            FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        ) k (names, of_tenants, referring)
    LOOP
        IF wrong.problem IS NOT NULL THEN
            RAISE EXCEPTION 'the declaration of table "%" is wrong: %', wrong.name, wrong.problem
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct the function tables_of_… of its feature.';
        END IF;
    END LOOP;

    RETURN QUERY
    SELECT t.name,
           COALESCE(CASE t.said ->> 'rows' WHEN 'asked' THEN 'own' ELSE t.said ->> 'rows' END,
                    CASE WHEN h.name IS NULL THEN 'memory' ELSE 'namespace' END),
           h.name,
           m.columns, m.has_key AND NOT COALESCE(h.is_set, false), t.said ->> 'written',
           COALESCE((t.said ->> 'embedders')::boolean, false), COALESCE((t.said ->> 'readable')::boolean, false),
           COALESCE((t.said ->> 'truncated')::boolean, false),
           COALESCE(t.said -> 'policies', '{}') || CASE t.said ->> 'rows' WHEN 'asked' THEN of_asker ELSE '{}' END,
           m.columns <> '{}' AND NOT t.said ? 'sensitive', t.said ? 'exported', t.said ->> 'exported', t.said ->> 'not_exported',
           t.said ->> 'erased', t.said ? 'kept'
    FROM jsonb_to_recordset(found) t (name text, said jsonb)
    JOIN pg_class c ON c.relnamespace = 'pgrecall'::regnamespace AND c.relname = t.name
    LEFT JOIN LATERAL (
        SELECT a.attname::text AS name, a.attnotnull AS is_set FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attname = COALESCE(t.said ->> 'home', 'namespace_id')
    ) h ON true
    CROSS JOIN LATERAL (
        SELECT COALESCE(array_agg(a.attname::text ORDER BY a.attnum)
                        FILTER (WHERE k.oid IS NOT NULL OR a.attname = 'memory_id'), '{}'),
               COALESCE(bool_or(k.oid IS NOT NULL AND a.attname = 'memory_id'), false)
        FROM pg_attribute a
        LEFT JOIN pg_constraint k ON k.conrelid = a.attrelid AND k.contype = 'f' AND k.conkey = ARRAY[a.attnum]
                                 AND k.confrelid = 'pgrecall.memories'::regclass
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    ) m (columns, has_key);
END
$function$;
