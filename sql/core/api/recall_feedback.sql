-- Records whether a memory answered a query (NULL takes it back), for pgrecall.learn(). Changes no ranking by itself.
--
-- Each role has one opinion of a query and memory; a later one replaces it. A role keeps its newest 1,000 queries in a
-- namespace. Feedback changes no ranking by itself: learn() measures first whether it helps. If the namespace has learned
-- settings, every 20th query reviews them, which takes up to some seconds: settings that answer the later queries
-- significantly worse than without them end.
--
-- query      as passed to recall()
-- id         a memory of the namespace
-- useful     true: it answers the query; false: it does not; NULL: take the feedback back
-- query_vec  as passed to recall(); NULL: the cached embedding of the query, if there is one. learn() ignores a query
--            without a vector while a model is active
-- namespace  NULL: the setting pgrecall.namespace, else 'default'
--
-- Errors  those of recall() for query and query_vec;  42704 no such namespace;  42501 read-only for this role;
--         P0002 the memory is forgotten, expired or not in the namespace;  55000 a vector without an active model
CREATE OR REPLACE FUNCTION public.recall_feedback(
    query text, id bigint, useful boolean, query_vec pgvector.halfvec DEFAULT NULL, namespace text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    most CONSTANT integer := 1000;
    review_every CONSTANT integer := 20;
    home CONSTANT integer := _pgrecall.writable_namespace(recall_feedback.namespace);
    role CONSTANT name := pg_get_userbyid(pgrecall.session_role());
    vector CONSTANT pgvector.halfvec := COALESCE(recall_feedback.query_vec, pgrecall.cached_query_embedding(recall_feedback.query));
    words CONSTANT text := COALESCE(recall_feedback.query, '');
    key CONSTANT text := 'feedback ' || md5(concat_ws(E'\n', role, words, CASE WHEN words = '' THEN vector::text END));
    made_for integer;
    model_id integer;
    is_new boolean;
    later bigint;
BEGIN
    PERFORM _pgrecall.check_query(words, vector);
    -- The lock waits for whoever erases it, and keeps it until this transaction ends.
    PERFORM FROM pgrecall.memories m
    WHERE m.id = (SELECT _pgrecall.seen_id('memory', recall_feedback.id)) AND m.namespace_id = home AND m.deleted_at IS NULL
      AND (m.expires_at IS NULL OR m.expires_at > now())
    FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'namespace "%" has no memory %',
            pgrecall.namespace_name(recall_feedback.namespace), COALESCE(recall_feedback.id::text, 'NULL')
            USING ERRCODE = 'no_data_found',
                  HINT = 'Check the id and the namespace; a forgotten memory counts as absent.';
    END IF;
    IF useful IS NULL THEN
        DELETE FROM pgrecall.judgements j
        WHERE j.namespace_id = home AND j.query_id = key AND j.memory_id = recall_feedback.id;
        DELETE FROM pgrecall.judged_queries q
        WHERE q.namespace_id = home AND q.query_id = key
          AND NOT EXISTS (SELECT FROM pgrecall.judgements j WHERE j.namespace_id = home AND j.query_id = key);
        RETURN;
    END IF;

    IF vector IS NOT NULL THEN
        -- What is cached was embedded by the active model.
        made_for := CASE WHEN recall_feedback.query_vec IS NULL THEN pgrecall.active_generation()
                         ELSE _pgrecall.query_generation(vector, (_pgrecall.effective_settings()).query_model) END;
        SELECT g.model_id INTO model_id FROM pgrecall.generations g WHERE g.id = made_for;
        IF model_id IS NULL THEN
            RAISE EXCEPTION 'no embedding model is active'
                USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Choose one: pgrecall migrate --model NAME.';
        END IF;
    END IF;
    INSERT INTO pgrecall.judged_queries AS q (namespace_id, query_id, query, stratum, judged_by)
    VALUES (home, key, words, 'feedback', role)
    ON CONFLICT ON CONSTRAINT judged_queries_pkey DO UPDATE SET judged_at = now()
    RETURNING q.xmax = 0 INTO is_new;
    IF vector IS NOT NULL THEN
        INSERT INTO pgrecall.judged_vectors AS v (namespace_id, query_id, embedding_model_id, query_vec)
        VALUES (home, key, model_id, vector)
        ON CONFLICT ON CONSTRAINT judged_vectors_pkey DO UPDATE SET query_vec = excluded.query_vec;
    END IF;
    INSERT INTO pgrecall.judgements AS j (namespace_id, query_id, memory_id, is_useful)
    VALUES (home, key, recall_feedback.id, useful)
    ON CONFLICT ON CONSTRAINT judgements_pkey DO UPDATE SET is_useful = excluded.is_useful;

    IF is_new THEN
        DELETE FROM pgrecall.judged_queries q
        WHERE q.namespace_id = home AND q.query_id IN (
            SELECT o.query_id FROM pgrecall.judged_queries o
            WHERE o.namespace_id = home AND o.judged_by = role
            ORDER BY o.judged_at DESC, o.query_id
            OFFSET most
        );
        SELECT count(*) INTO later
        FROM pgrecall.learned_settings l
        JOIN pgrecall.judged_queries q ON q.namespace_id = l.namespace_id AND q.judged_at > l.learned_at
        WHERE l.namespace_id = home AND l.ended_at IS NULL;
        IF later > 0 AND later % review_every = 0 THEN
            PERFORM _pgrecall.review_learning(home);
        END IF;
    END IF;
END
$function$;

ALTER FUNCTION public.recall_feedback OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.recall_feedback FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.recall_feedback TO pgrecall_writer;
