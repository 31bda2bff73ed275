-- Triggers on derived tables: refuse rows derived from a sensitive memory.
--
-- Functions skip sensitive memories, and a memory that becomes sensitive loses its derived rows. These triggers cover
-- every other writer. SECURITY DEFINER, so that they also see memories that the caller cannot.
--
-- Errors  42501
CREATE OR REPLACE FUNCTION _pgrecall.refuse_sensitive()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
-- A plan from when the table was small would scan it forever.
SET enable_seqscan = 'off'
AS $function$
DECLARE
    refused bigint;
BEGIN
    IF TG_OP = 'INSERT' THEN
        -- One by one: the planner has no estimate of how many there are.
        SELECT s.id INTO refused
        FROM new_rows n
        CROSS JOIN LATERAL (SELECT m.id FROM pgrecall.memories m WHERE m.id = n.memory_id AND m.is_sensitive LIMIT 1) s
        LIMIT 1;
    ELSE
        SELECT m.id INTO refused FROM pgrecall.memories m WHERE m.id = NEW.memory_id AND m.is_sensitive;
    END IF;
    IF refused IS NOT NULL THEN
        RAISE EXCEPTION 'nothing may be derived from memory %', refused
            USING ERRCODE = 'insufficient_privilege', HINT = 'Only memories that are not sensitive have names, facts and passages.';
    END IF;
    RETURN NULL;
END
$function$;

ALTER FUNCTION _pgrecall.refuse_sensitive OWNER TO pgrecall_engine;

-- On every table whose declaration does not say why its rows may refer to sensitive memories.
DO $triggers$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT d.name FROM _pgrecall.table_declarations() d WHERE d.refuses_sensitive ORDER BY d.name LOOP
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER refuse_sensitive_insert AFTER INSERT ON pgrecall.%I REFERENCING NEW TABLE AS new_rows '
            'FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.refuse_sensitive()', found.name
        );
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER refuse_sensitive_update AFTER UPDATE OF memory_id ON pgrecall.%I '
            'FOR EACH ROW EXECUTE FUNCTION _pgrecall.refuse_sensitive()', found.name
        );
    END LOOP;
END
$triggers$;
