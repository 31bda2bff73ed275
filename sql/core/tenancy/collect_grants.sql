-- Triggers on grants: maintain pgrecall.granted, the namespaces of each role as one array. See granted_namespaces().
--
-- A new grant is added to the array: a role that gets thousands of them one by one must not read all the earlier ones each time.
-- No element is NULL, which would make each look into the array a walk along it.
--
-- Concurrent changes to the grants of one role wait for each other. The triggers also fire for copied rows, as when a
-- namespace moves.
CREATE OR REPLACE FUNCTION _pgrecall.collect_grants()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
DECLARE
    roles oid[];
    about oid;
    ids integer[];
    before boolean[];
    first integer;
    last integer;
    granted boolean[];
    id integer;
BEGIN
    CASE TG_OP
        WHEN 'TRUNCATE' THEN
            DELETE FROM pgrecall.granted;
            RETURN NULL;
        WHEN 'INSERT' THEN
            SELECT array_agg(DISTINCT c.role::oid ORDER BY c.role::oid) INTO roles FROM changed c;
        WHEN 'DELETE' THEN
            SELECT array_agg(DISTINCT b.role::oid ORDER BY b.role::oid) INTO roles FROM before_change b;
        ELSE
            -- Whether a role may write is not in the array.
            SELECT array_agg(DISTINCT r.role ORDER BY r.role) INTO roles
            FROM (
                (SELECT b.role::oid, b.namespace_id FROM before_change b EXCEPT SELECT c.role::oid, c.namespace_id FROM changed c)
                UNION ALL
                (SELECT c.role::oid, c.namespace_id FROM changed c EXCEPT SELECT b.role::oid, b.namespace_id FROM before_change b)
            ) r (role, namespace_id);
    END CASE;
    FOREACH about IN ARRAY COALESCE(roles, '{}') LOOP
        -- The row is the lock: only roles that may grant can write it, and so lock it.
        INSERT INTO pgrecall.granted AS g (role, namespaces) VALUES (about, '{}')
        ON CONFLICT ON CONSTRAINT granted_pkey DO UPDATE SET namespaces = g.namespaces
        RETURNING g.namespaces INTO before;
        IF TG_OP = 'INSERT' THEN
            ids := ARRAY(SELECT c.namespace_id FROM changed c WHERE c.role = about);
        ELSE
            ids := ARRAY(SELECT g.namespace_id FROM pgrecall.grants g WHERE g.role = about);
            before := '{}';
        END IF;
        IF ids = '{}' THEN
            DELETE FROM pgrecall.granted g WHERE g.role = about;
            CONTINUE;
        END IF;
        SELECT LEAST(min(i.id), array_lower(before, 1)), GREATEST(max(i.id), array_upper(before, 1)) INTO first, last
        FROM unnest(ids) i (id);
        IF before = '{}' THEN
            granted := array_fill(false, ARRAY[last - first + 1], ARRAY[first]);
        ELSE
            granted := array_fill(false, ARRAY[array_lower(before, 1) - first], ARRAY[first]) || before
                    || array_fill(false, ARRAY[last - array_upper(before, 1)]);
        END IF;
        FOREACH id IN ARRAY ids LOOP
            granted[id] := true;
        END LOOP;
        UPDATE pgrecall.granted g SET namespaces = granted WHERE g.role = about;
    END LOOP;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER collect_grants_insert
    AFTER INSERT ON pgrecall.grants
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.collect_grants();

CREATE OR REPLACE TRIGGER collect_grants_update
    AFTER UPDATE ON pgrecall.grants
    REFERENCING OLD TABLE AS before_change NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.collect_grants();

CREATE OR REPLACE TRIGGER collect_grants_delete
    AFTER DELETE ON pgrecall.grants
    REFERENCING OLD TABLE AS before_change
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.collect_grants();

CREATE OR REPLACE TRIGGER collect_grants_truncate
    AFTER TRUNCATE ON pgrecall.grants
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.collect_grants();

ALTER TABLE pgrecall.grants ENABLE ALWAYS TRIGGER collect_grants_insert;
ALTER TABLE pgrecall.grants ENABLE ALWAYS TRIGGER collect_grants_update;
ALTER TABLE pgrecall.grants ENABLE ALWAYS TRIGGER collect_grants_delete;
ALTER TABLE pgrecall.grants ENABLE ALWAYS TRIGGER collect_grants_truncate;
