-- Stores a checked line of export_records() that is not there.
--
-- subject  name of the line in error messages
--
-- Errors  22023 a value out of range;  those of _pgrecall.check_query
CREATE OR REPLACE FUNCTION _pgrecall.store_record(home integer, line jsonb, subject text)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    -- A violated constraint would print the row.
    BEGIN
        CASE line ->> 'kind'
            WHEN 'namespace' THEN
                PERFORM pgrecall.set_secrets(line ->> 'namespace', line ->> 'secrets', line ->> 'secrets_in_messages');
            WHEN 'retention' THEN
                INSERT INTO pgrecall.retention (namespace_id, category, keep, action)
                VALUES (home, line ->> 'category', (line ->> 'keep')::interval, line ->> 'action');
            WHEN 'page' THEN
                PERFORM _pgrecall.check_page(g.name, g.question, g.budget, g.unit, g.sections),
                        _pgrecall.store_page(home, g.name, g.question, g.budget, g.unit, g.sections)
                FROM jsonb_populate_record(NULL::pgrecall.pages, line) g;
                PERFORM _pgrecall.fill_granted(home);
            WHEN 'learned' THEN
                INSERT INTO pgrecall.learned_settings (
                    namespace_id, settings, queries, ndcg_before, ndcg_after, gain_low, gain_high, learned_at, ended_at, end_reason
                )
                SELECT home, l.settings, l.queries, l.ndcg_before, l.ndcg_after, l.gain_low, l.gain_high, l.learned_at,
                       l.ended_at, l.end_reason
                FROM jsonb_populate_record(NULL::pgrecall.learned_settings, line) l;
            WHEN 'change' THEN
                INSERT INTO pgrecall.memory_changes (memory_id, namespace_id, action, changed_at, role, before, after, bytes)
                VALUES (
                    (line ->> 'memory')::bigint, home, line ->> 'action', (line ->> 'changed_at')::timestamptz,
                    'imported:' || (line ->> 'role'), line -> 'before', line -> 'after',
                    octet_length((line -> 'before')::text) + octet_length((line -> 'after')::text)
                );
                PERFORM _pgrecall.trim_history((line ->> 'memory')::bigint);
            WHEN 'evidence' THEN
                INSERT INTO pgrecall.note_evidence (memory_id, note_id, is_stated)
                VALUES ((line ->> 'memory')::bigint, (line ->> 'note')::bigint, (line ->> 'is_stated')::boolean);
            WHEN 'judged' THEN
                PERFORM _pgrecall.check_query(line ->> 'query', NULL);
                INSERT INTO pgrecall.judged_queries (namespace_id, query_id, query, stratum, exclude, judged_by, judged_at)
                VALUES (
                    home, line ->> 'query_id', line ->> 'query', line ->> 'stratum',
                    ARRAY(SELECT e.id::bigint FROM jsonb_array_elements_text(line -> 'exclude') e (id)),
                    CASE WHEN line ->> 'judged_by' = '' THEN '' ELSE 'imported:' || (line ->> 'judged_by') END,
                    (line ->> 'judged_at')::timestamptz
                );
                INSERT INTO pgrecall.judgements (namespace_id, query_id, memory_id, is_useful)
                SELECT DISTINCT ON (j.id) home, line ->> 'query_id', j.id::bigint, j.is_useful
                FROM (
                    SELECT u.id, true AS is_useful FROM jsonb_array_elements_text(line -> 'useful') u (id)
                    UNION ALL
                    SELECT u.id, false FROM jsonb_array_elements_text(line -> 'useless') u (id)
                ) j;
            ELSE
                RAISE EXCEPTION '%: it is of no known kind', subject
                    USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct it or leave the line out.';
        END CASE;
    EXCEPTION
        WHEN integrity_constraint_violation OR data_exception THEN
            RAISE EXCEPTION '%: a value of it is out of range', subject
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct it or leave the line out.';
    END;
END
$function$;
