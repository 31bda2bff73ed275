-- Closes a fact that is no longer true and links it to its successor: a new memory with this content, or an existing one.
-- Returns the successor's id.
--
-- The old memory stays, with valid_to set and a link to its successor. recall skips it, except with include_superseded
-- or an earlier as_of. Pass either content, which creates a new memory with the old one's other fields, or successor,
-- the id of an existing memory.
--
-- successor    a memory of the same namespace
-- origin       of the successor; NULL: of a new one, that of the old one or the setting default_origin, the less trusted of both
-- occurred_at  when the change happened; also the end of the old fact's validity. NULL: now
--
-- Errors  P0002 no such memory;  42501 read-only for this role;  22023 both or neither of content and successor, already
--         superseded, or a cycle;  40001 a successor has been superseded since the transaction's snapshot
CREATE OR REPLACE FUNCTION public.supersede(
    id bigint,
    content text DEFAULT NULL,
    successor bigint DEFAULT NULL,
    occurred_at timestamptz DEFAULT NULL,
    metadata jsonb DEFAULT NULL,
    importance double precision DEFAULT NULL,
    origin text DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT bigint[] := _pgrecall.seen_ids('memory', ARRAY[supersede.id, successor]);
    old pgrecall.memories;
    new_id bigint := supersede.successor;
BEGIN
    IF (content IS NULL) = (successor IS NULL) THEN
        RAISE EXCEPTION 'memory %: pass either content or successor', supersede.id
            USING ERRCODE = 'invalid_parameter_value', HINT = 'content makes a new memory, successor names an existing one.';
    ELSIF supersede.occurred_at NOT BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-31 00:00:00+00' THEN
        RAISE EXCEPTION 'memory %: occurred_at is not a time from 0001-01-02 to 9999-12-31 UTC', supersede.id
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Write it as 2025-01-31T12:00:00Z, or leave it out: now.';
    END IF;
    IF successor = supersede.id THEN
        RAISE EXCEPTION 'memory % cannot supersede itself', supersede.id
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Name another memory, or pass the new content.';
    END IF;
    PERFORM _pgrecall.lock_with_successor(seen, successor);
    PERFORM _pgrecall.lock_successors(seen);
    SELECT m.* INTO old FROM pgrecall.memories m WHERE m.id = supersede.id AND m.id = ANY (seen) AND m.deleted_at IS NULL
        AND (m.expires_at IS NULL OR m.expires_at > now());
    IF old.id IS NULL OR NOT _pgrecall.may_write(old.namespace_id) THEN
        PERFORM _pgrecall.raise_unknown_memory(supersede.id);
    ELSIF old.superseded_by = supersede.successor THEN
        RETURN new_id;  -- repeated call: nothing changes
    ELSIF old.superseded_by IS NOT NULL THEN
        RAISE EXCEPTION 'memory % is already superseded by %', supersede.id, old.superseded_by
            USING ERRCODE = 'invalid_parameter_value', HINT = format('Supersede %s, or update it.', old.superseded_by);
    ELSIF successor IS NULL THEN
        new_id := _pgrecall.copy_memory(old, jsonb_build_object(
            'content', content, 'occurred_at', occurred_at,
            'metadata', COALESCE(supersede.metadata, old.metadata), 'importance', COALESCE(supersede.importance, old.importance)
        ) || CASE WHEN supersede.origin IS NULL THEN '{}' ELSE jsonb_build_object('origin', supersede.origin) END);
    ELSE
        IF NOT EXISTS (
            SELECT FROM pgrecall.memories m
            WHERE m.id = successor AND successor = ANY (seen) AND m.namespace_id = old.namespace_id AND m.deleted_at IS NULL
        ) THEN
            PERFORM _pgrecall.raise_unknown_memory(successor);
        END IF;
        IF supersede.id IN (
            WITH RECURSIVE later (id) AS (
                SELECT successor
                UNION
                SELECT m.superseded_by FROM later JOIN pgrecall.memories m ON m.id = later.id
            )
            SELECT later.id FROM later WHERE later.id IS NOT NULL
        ) THEN
            RAISE EXCEPTION 'memory % is itself superseded by %', successor, supersede.id
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Two memories cannot supersede each other.';
        END IF;
        IF num_nonnulls(supersede.metadata, supersede.importance, supersede.origin) > 0 THEN
            PERFORM public.update_memory(
                successor, metadata => supersede.metadata, importance => supersede.importance, origin => supersede.origin
            );
        END IF;
    END IF;

    UPDATE pgrecall.memories m
    SET superseded_by = new_id, superseded_at = now(), updated_at = now(),
        valid_to = greatest(m.valid_from, COALESCE(m.valid_to, supersede.occurred_at, now()))
    WHERE m.id = supersede.id;
    RETURN new_id;
END
$function$;

ALTER FUNCTION public.supersede OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.supersede FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.supersede TO pgrecall_writer;
