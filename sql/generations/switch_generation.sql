-- Makes recall read another generation, from the next call on; the one that it has read so far is retired.
--
-- Going back is the same call with the retired generation: what was written since is embedded then.
--
-- Errors  55000 it is not ready: an index or its rule is missing, memories without an embedding;  P0002 no such generation
--
-- force  True switches though memories wait for their embedding
CREATE OR REPLACE FUNCTION pgrecall.switch_generation(generation integer, force boolean DEFAULT false)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
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
        RAISE EXCEPTION 'generation % has not all its indexes', chosen.id
            USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'pgrecall reembed builds what is missing.';
    ELSIF chosen.state = 'building' AND NOT force THEN
        SELECT p.pending - p.parked INTO missing FROM pgrecall.generation_progress() p WHERE p.generation = chosen.id;
        IF missing > 0 THEN
            RAISE EXCEPTION '% memories have no embedding of generation % yet', missing, chosen.id
                USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Wait for the embedder, or switch by force.';
        END IF;
    END IF;
    UPDATE pgrecall.generations g
    SET state = CASE WHEN g.id = chosen.id THEN 'active' ELSE 'retired' END, switched_at = now();
    PERFORM pg_notify('pgrecall_embed', '');
END
$function$;

COMMENT ON FUNCTION pgrecall.switch_generation IS
    'Makes recall read another generation, from the next call on; the one before is retired, and can be switched back to.';
