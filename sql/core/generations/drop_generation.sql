-- Drops a generation that is not active, with its column. The next VACUUM FULL frees the space.
--
-- Takes short exclusive locks, as add_generation() does.
--
-- Errors  55000 recall reads it;  P0002 no such generation
CREATE OR REPLACE FUNCTION pgrecall.drop_generation(generation integer)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    gone pgrecall.generations;
    widths integer;
BEGIN
    LOCK TABLE pgrecall.generations IN SHARE ROW EXCLUSIVE MODE;
    SELECT g.* INTO gone FROM pgrecall.generations g WHERE g.id = drop_generation.generation;
    IF gone.id IS NULL THEN
        RAISE EXCEPTION 'there is no generation %', COALESCE(drop_generation.generation::text, 'NULL')
            USING ERRCODE = 'no_data_found', HINT = 'SELECT * FROM pgrecall.generation_progress() lists them.';
    ELSIF gone.state = 'active' THEN
        RAISE EXCEPTION 'recall reads generation %', gone.id
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Switch to the other one first.';
    END IF;
    -- Waits for claims in progress, which refer to the generation's row.
    LOCK TABLE pgrecall.memories, pgrecall.concepts, pgrecall.passages IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('DROP INDEX IF EXISTS pgrecall.%I', 'passages_' || gone.column_name || '_idx');
    DELETE FROM pgrecall.jobs j WHERE j.generation_id = gone.id;
    -- Cascades to its passages.
    DELETE FROM pgrecall.generations g WHERE g.id = gone.id;
    PERFORM _pgrecall.rebuild_embedding_accessors();
    SELECT sum(g.dimension)::integer INTO widths FROM pgrecall.generations g WHERE g.dimension <= 2000;
    EXECUTE format(
        'ALTER TABLE pgrecall.memories DROP COLUMN %I, SET (toast_tuple_target = %s)',
        gone.column_name, least(8160, 2048 + 2 * COALESCE(widths, 0))
    );
    EXECUTE format('ALTER TABLE pgrecall.concepts DROP COLUMN %I', gone.column_name);
    PERFORM _pgrecall.send_notification('pgrecall_embed');
END
$function$;
