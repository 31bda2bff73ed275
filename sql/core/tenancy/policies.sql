-- Row-level security: pgrecall_gate sees exactly the rows that the session's role may see.
--
-- Tenants and embedders have no privilege on these tables. They call functions, which run as pgrecall_gate, and these
-- policies check the caller (session_role):
--
-- a member of pgrecall_reader      reads the rows of namespaces granted to it (grants)
-- a member of pgrecall_writer      also writes those of namespaces granted for writing
-- a member of pgrecall_everywhere  reads and writes every row (sees_all)
-- a member of pgrecall_embedder    every namespace, but no sensitive memory and no judged query (is_embedder)
--
-- Privileges determine which functions a role may call (grants.sql). pgrecall_engine, which runs ranking and indexing,
-- and pgrecall_admin see every row. The owner is not subject to policies.
--
-- The tables, with policies of their own, are those of _pgrecall.table_declarations(). A table that is not declared is closed.
--
-- Read checks use an array that is read once per statement (granted_namespaces). Write checks look up each row in the
-- primary key of grants.
--
-- A writer may only use an id that the sequence has handed out. Otherwise it could take ids of other tenants' inserts. A row that it
-- refers to must be of the same namespace: a foreign key alone would reveal which ids exist. Both follow from the catalog.
DO $policies$
DECLARE
    in_namespace CONSTANT text := '((SELECT _pgrecall.granted_namespaces()))[%1$I.%2$I]';
    in_own CONSTANT text :=
        '(SELECT true FROM pgrecall.grants g WHERE g.namespace_id = %1$I.%2$I AND g.access = ''write'' LIMIT 1)';
    of_seen CONSTANT text := '(SELECT true FROM pgrecall.memories m WHERE m.id = %1$I.memory_id)';
    of_own CONSTANT text :=
        '(SELECT true FROM pgrecall.memories m JOIN pgrecall.grants g ON g.namespace_id = m.namespace_id '
        'WHERE m.id = %1$I.memory_id AND g.access = ''write''%2$s LIMIT 1)';
    found record;
    made record;
    unrestricted text;
    reads text;
    mine text;
    writes text;
BEGIN
    FOR found IN SELECT p.policyname, p.tablename FROM pg_policies p WHERE p.schemaname = 'pgrecall' LOOP
        EXECUTE format('DROP POLICY %I ON pgrecall.%I', found.policyname, found.tablename);
    END LOOP;

    FOR found IN
        SELECT d.*, c.oid AS relation, c.relrowsecurity AS is_closed
        FROM _pgrecall.table_declarations() d
        JOIN pg_class c ON c.relnamespace = 'pgrecall'::regnamespace AND c.relname = d.name
        ORDER BY d.name
    LOOP
        IF NOT found.is_closed THEN
            EXECUTE format('ALTER TABLE pgrecall.%I ENABLE ROW LEVEL SECURITY', found.name);
        END IF;
        -- Roles trusted with every row.
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I TO pgrecall_engine, pgrecall_admin USING (true)',
                       found.name || '_trusted', found.name);
        FOR made IN SELECT p.key AS name, p.value AS said FROM jsonb_each(found.policies) p LOOP
            EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR %s TO pgrecall_gate %s %s', found.name || '_' || made.name,
                           found.name, COALESCE(made.said ->> 'for', 'ALL'),
                           'USING (' || (made.said ->> 'using') || ')', 'WITH CHECK (' || (made.said ->> 'check') || ')');
        END LOOP;
        IF found.rows = 'shared' THEN
            EXECUTE format('CREATE POLICY %I ON pgrecall.%I TO PUBLIC USING (true)', found.name || '_all', found.name);
        END IF;
        CONTINUE WHEN found.rows IN ('shared', 'own');

        IF found.rows = 'namespace' THEN
            reads := format(in_namespace, found.name, found.home);
            mine := format(in_own, found.name, found.home);
            SELECT concat_ws(' AND ', mine, string_agg(k.test, ' AND ' ORDER BY k.place, k.number)) INTO writes
            FROM (
                SELECT 1, a.attnum, format('%I <= pg_sequence_last_value(%L)', a.attname, s.name)
                FROM pg_attribute a
                CROSS JOIN pg_get_serial_sequence('pgrecall.' || found.name, a.attname) s (name)
                WHERE a.attrelid = found.relation AND a.attidentity = 'd' AND a.attname <> found.home
                UNION ALL
                SELECT t.place, a.attnum,
                       CASE WHEN a.attnotnull THEN o.is_own ELSE format('(%I IS NULL OR %s)', a.attname, o.is_own) END
                FROM pg_constraint k
                JOIN pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]
                JOIN (VALUES (2, 'pgrecall.memories'::regclass, '_pgrecall.owns_memory'),
                             (3, 'pgrecall.relationships', '_pgrecall.owns_relationship')) t (place, relation, owns)
                  ON t.relation = k.confrelid
                CROSS JOIN format('%s(%I, %I)', t.owns, found.home, a.attname) o (is_own)
                WHERE k.conrelid = found.relation AND k.contype = 'f'
            ) k (place, number, test);
        ELSE
            reads := format(of_seen, found.name);
            mine := format(of_own, found.name, '');
            SELECT format(of_own, found.name, string_agg(
                format(' AND _pgrecall.owns_memory(m.namespace_id, %I.%I)', found.name, c.name), '' ORDER BY c.name
            )) INTO writes
            FROM unnest(found.columns_of_memories) c (name) WHERE c.name <> 'memory_id';
        END IF;
        -- Check sees_all first, to avoid the lookup of grants.
        unrestricted := '(SELECT _pgrecall.sees_all()) OR '
                     || CASE WHEN found.has_embedders THEN '(SELECT _pgrecall.is_embedder()) OR ' ELSE '' END;
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR SELECT TO pgrecall_gate USING (%s)',
                       found.name || '_read', found.name, unrestricted || reads);
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR INSERT TO pgrecall_gate WITH CHECK (%s)',
                       found.name || '_insert', found.name, unrestricted || '(' || writes || ')');
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR UPDATE TO pgrecall_gate USING (%s) WITH CHECK (%s)',
                       found.name || '_update', found.name, unrestricted || mine, unrestricted || '(' || writes || ')');
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR DELETE TO pgrecall_gate USING (%s)',
                       found.name || '_delete', found.name, unrestricted || mine);
    END LOOP;
END
$policies$;
