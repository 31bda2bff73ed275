-- Triggers on mentions that log which namespaces' graphs have changed, so that graph_ppr() can cache matrices.
--
-- Each statement appends a row, so writers do not wait for each other as they would for a counter. One statement in 256
-- compacts the log: a new row replaces the rows that it deletes, so no set of visible rows ever repeats. It does not
-- compact under repeatable read, where two compactions would conflict. SECURITY DEFINER, because no role may write the
-- log directly.
CREATE OR REPLACE FUNCTION _pgrecall.log_graph_changes()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    every CONSTANT integer := 256;
    is_due boolean;
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        INSERT INTO pgrecall.graph_changes (namespace_id) SELECT n.id FROM pgrecall.namespaces n;
        RETURN NULL;
    ELSIF TG_OP = 'UPDATE' THEN
        WITH written AS (
            INSERT INTO pgrecall.graph_changes (namespace_id)
            SELECT c.namespace_id FROM changed c UNION SELECT b.namespace_id FROM before_change b
            RETURNING graph_changes.id
        )
        SELECT bool_or(w.id % every = 0) INTO is_due FROM written w;
    ELSE
        WITH written AS (
            INSERT INTO pgrecall.graph_changes (namespace_id)
            SELECT DISTINCT c.namespace_id FROM changed c
            RETURNING graph_changes.id
        )
        SELECT bool_or(w.id % every = 0) INTO is_due FROM written w;
    END IF;
    IF is_due AND current_setting('transaction_isolation') = 'read committed' THEN
        WITH gathered AS MATERIALIZED (
            SELECT c.namespace_id, c.id
            FROM pgrecall.graph_changes c
            WHERE c.namespace_id IN (
                SELECT g.namespace_id FROM pgrecall.graph_changes g GROUP BY g.namespace_id HAVING count(*) > 1
            )
            FOR UPDATE OF c SKIP LOCKED
        ), gone AS (
            DELETE FROM pgrecall.graph_changes c USING gathered g
            WHERE c.namespace_id = g.namespace_id AND c.id = g.id
            RETURNING c.namespace_id
        )
        INSERT INTO pgrecall.graph_changes (namespace_id) SELECT DISTINCT g.namespace_id FROM gone g;
    END IF;
    RETURN NULL;
END
$function$;

ALTER FUNCTION _pgrecall.log_graph_changes OWNER TO pgrecall_engine;

CREATE OR REPLACE TRIGGER mentions_change_insert
    AFTER INSERT ON pgrecall.mentions
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.log_graph_changes();

CREATE OR REPLACE TRIGGER mentions_change_update
    AFTER UPDATE ON pgrecall.mentions
    REFERENCING OLD TABLE AS before_change NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.log_graph_changes();

CREATE OR REPLACE TRIGGER mentions_change_delete
    AFTER DELETE ON pgrecall.mentions
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.log_graph_changes();

CREATE OR REPLACE TRIGGER mentions_change_truncate
    AFTER TRUNCATE ON pgrecall.mentions
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.log_graph_changes();
