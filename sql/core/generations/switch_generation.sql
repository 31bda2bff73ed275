-- Makes a generation the active one, from the next recall on. The one before is retired; switch back to it to undo this.
--
-- To go back, switch to the retired generation. Daemons then embed the memories written in between.
--
-- force  true: switch even if memories are pending
--
-- Errors  55000 an index or its constraint is missing, or memories are pending;  P0002 no such generation
CREATE OR REPLACE FUNCTION pgrecall.switch_generation(generation integer, force boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    chosen pgrecall.generations;
    missing bigint;
BEGIN
    LOCK TABLE pgrecall.generations IN SHARE ROW EXCLUSIVE MODE;
    SELECT g.* INTO chosen FROM pgrecall.generations g WHERE g.id = switch_generation.generation;
    IF chosen.id IS NULL THEN
        RAISE EXCEPTION 'there is no generation %', COALESCE(switch_generation.generation::text, 'NULL')
            USING ERRCODE = 'no_data_found', HINT = 'SELECT * FROM pgrecall.generation_progress() lists them.';
    ELSIF chosen.state = 'active' THEN
        RETURN;
    ELSIF EXISTS (SELECT FROM pgrecall.generation_statements(chosen.id, 'fill'))
          OR EXISTS (SELECT FROM pgrecall.generation_statements(chosen.id, 'search')) THEN
        RAISE EXCEPTION 'generation % lacks an index', chosen.id
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Run pgrecall reembed to build it.';
    ELSIF chosen.state = 'building' AND NOT force THEN
        SELECT p.pending - p.failed INTO missing FROM pgrecall.generation_progress() p WHERE p.generation = chosen.id;
        IF missing > 0 THEN
            RAISE EXCEPTION '% memories have no embedding of generation % yet', missing, chosen.id
                USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Wait for the embedder, or pass force => true.';
        END IF;
    END IF;
    UPDATE pgrecall.generations g
    SET state = CASE WHEN g.id = chosen.id THEN 'active' ELSE 'retired' END, switched_at = now();
    PERFORM _pgrecall.send_notification('pgrecall_embed');
END
$function$;

ALTER FUNCTION pgrecall.switch_generation OWNER TO pgrecall_engine;
