-- Records which memories are the right answers to a query, for pgrecall.recall_eval(); replaces earlier judgements of that
-- query_id.
--
-- It replaces earlier judgements of that query_id by the same role, so a file of judgements can be loaded repeatedly. A
-- namespace has at most 10,000 of them.
--
-- query_id   the caller's own name for the query, 1 to 200 characters
-- query      as passed to recall(); may be empty if there is a vector
-- query_vec  the query's embedding, from the model that recall_status() names; NULL: measured by words and concepts
-- relevant   ids of the memories that answer it
-- stratum    the kind of query; each stratum is measured separately
-- exclude    ids left out of every ranking, such as the memory that the query was made from
-- namespace  NULL: the setting pgrecall.namespace, else 'default'
--
-- Errors  22023 nothing relevant, an id that is NULL or both relevant and excluded, a name out of range, a query that
--         recall() would refuse;  54000 query too long, more than 500 excluded, too many judged queries;  23505 another
--         role's query_id;  42704 no such namespace;
--         42501 read-only for this role;  P0002 a relevant memory is forgotten or not in the namespace;  55000 a vector
--         without an active model
CREATE OR REPLACE FUNCTION pgrecall.judge(
    query_id text, query text, query_vec pgvector.halfvec, relevant bigint[],
    stratum text DEFAULT 'all', exclude bigint[] DEFAULT '{}', namespace text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    most_judged CONSTANT integer := 10000;
    judging CONSTANT regrole := pgrecall.session_role();
    max_excluded CONSTANT integer := 500;
    home CONSTANT integer := _pgrecall.writable_namespace(namespace);
    excluded_ids bigint[] := ARRAY(SELECT DISTINCT e.id FROM unnest(exclude) AS e (id) ORDER BY e.id);
    refused record;
    made_for integer;
BEGIN
    PERFORM _pgrecall.check_query(query, query_vec);
    made_for := _pgrecall.query_generation(query_vec, (_pgrecall.effective_settings()).query_model);
    IF query_vec IS NOT NULL AND (SELECT g.model_id IS NULL FROM pgrecall.generations g WHERE g.id = made_for) THEN
        RAISE EXCEPTION 'no embedding model is active'
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Choose one: pgrecall migrate --model NAME.';
    ELSIF COALESCE(length(query_id), 0) NOT BETWEEN 1 AND 200 THEN
        RAISE EXCEPTION 'a judged query needs a query_id of 1 to 200 characters'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Choose any name that is unique in the namespace.';
    ELSIF COALESCE(length(stratum), 0) NOT BETWEEN 1 AND 200 OR stratum = 'overall' THEN
        RAISE EXCEPTION 'a stratum needs 1 to 200 characters and cannot be "overall"'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Omit it to use "all". The row over all strata is called "overall".';
    ELSIF COALESCE(cardinality(relevant), 0) = 0 THEN
        RAISE EXCEPTION 'the judged query has no relevant memory'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Name at least one memory. pgrecall.unjudge() removes a judged query.';
    ELSIF cardinality(excluded_ids) > max_excluded THEN
        RAISE EXCEPTION 'the judged query excludes % memories; % is the limit', cardinality(excluded_ids), max_excluded
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Move memories that no query should find to another namespace.';
    END IF;

    -- The lock waits for whoever erases one of them, and keeps them until this transaction ends.
    PERFORM FROM pgrecall.memories m
    WHERE m.id IN (SELECT s.id FROM unnest(_pgrecall.seen_ids('memory', relevant)) AS s (id)) AND m.namespace_id = home
    ORDER BY m.id
    FOR KEY SHARE;
    SELECT r.id, m.id IS NOT NULL AS is_known INTO refused
    FROM unnest(relevant) AS r (id)
    LEFT JOIN unnest(_pgrecall.seen_ids('memory', relevant)) AS s (id) ON s.id = r.id
    LEFT JOIN pgrecall.memories m ON m.id = s.id AND m.namespace_id = home AND m.deleted_at IS NULL
    WHERE m.id IS NULL OR r.id = ANY (excluded_ids)
    ORDER BY r.id
    LIMIT 1;
    IF FOUND AND refused.is_known THEN
        RAISE EXCEPTION 'memory % is relevant and excluded', refused.id
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Remove it from one of the two lists.';
    ELSIF FOUND AND refused.id IS NOT NULL THEN
        RAISE EXCEPTION 'namespace "%" has no memory %', pgrecall.namespace_name(namespace), refused.id
            USING ERRCODE = 'no_data_found',
                  HINT = 'Check the id and the namespace; a forgotten memory counts as absent.';
    ELSIF FOUND OR EXISTS (SELECT FROM unnest(excluded_ids) AS e (id) WHERE e.id IS NULL) THEN
        RAISE EXCEPTION 'a memory id is NULL'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave NULLs out of relevant and exclude.';
    END IF;

    IF (SELECT count(*) FROM pgrecall.judged_queries q WHERE q.namespace_id = home AND q.query_id <> judge.query_id AND q.owner <> '')
       >= most_judged THEN
        RAISE EXCEPTION 'namespace "%" has % judged queries', pgrecall.namespace_name(namespace), most_judged
            USING ERRCODE = 'program_limit_exceeded', HINT = 'pgrecall.unjudge() removes one.';
    END IF;
    INSERT INTO pgrecall.judged_queries AS q (namespace_id, query_id, query, stratum, exclude, owner)
    VALUES (home, judge.query_id, COALESCE(judge.query, ''), judge.stratum, excluded_ids, pg_get_userbyid(judging))
    ON CONFLICT ON CONSTRAINT judged_queries_pkey DO UPDATE
        SET query = excluded.query, stratum = excluded.stratum, exclude = excluded.exclude, judged_by = '', judged_at = now(),
            owner = excluded.owner
        WHERE _pgrecall.may_rejudge(q.owner);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another role has judged a query with this query_id'
            USING ERRCODE = 'unique_violation', HINT = 'Choose another query_id. Only that role and administrators replace or remove it.';
    END IF;
    DELETE FROM pgrecall.judged_vectors v WHERE v.namespace_id = home AND v.query_id = judge.query_id;
    INSERT INTO pgrecall.judged_vectors (namespace_id, query_id, embedding_model_id, query_vec)
    SELECT home, judge.query_id, g.model_id, judge.query_vec FROM pgrecall.generations g WHERE g.id = made_for AND query_vec IS NOT NULL;
    -- The row above is now locked: a concurrent judge() of this query waits, then replaces these judgements.
    DELETE FROM pgrecall.judgements j
    WHERE j.namespace_id = home AND j.query_id = judge.query_id AND j.memory_id <> ALL (relevant);
    INSERT INTO pgrecall.judgements (namespace_id, query_id, memory_id)
    SELECT DISTINCT home, judge.query_id, r.id FROM unnest(relevant) AS r (id)
    ON CONFLICT ON CONSTRAINT judgements_pkey DO UPDATE SET is_useful = true;
END
$function$;

ALTER FUNCTION pgrecall.judge OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.judge TO pgrecall_writer;
