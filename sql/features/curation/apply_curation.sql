-- Applies and records a curation decision, if neither memory has changed since the comparison. Returns the number of the
-- decision, for undo_curation(); NULL if nothing was done.
--
-- Returns NULL and changes nothing if either memory was changed, flagged as sensitive, forgotten or superseded since
-- the comparison. If the memory already has a decision, it stands and its number is returned.
--
-- A less trusted memory never supersedes a more trusted one, nor one of another category, tags or metadata, whoever decides: the
-- decision is then recorded as ADD, with what was refused in evidence.
--
-- decision                 NOOP: the older memory (other_id) supersedes the new one. UPDATE, SUPERSEDE: the new memory
--                          supersedes the older one, which is closed as by supersede(). ADD: only recorded
-- memory_hash, other_hash  content_hash of the compared texts
-- evidence                 an object of numbers and ids, no text; NULL: none
--
-- Errors  22023 no such decision, it names no other memory, or evidence or decider do not fit;  42501 read-only for this role
CREATE OR REPLACE FUNCTION pgrecall.apply_curation(
    memory_id bigint, other_id bigint, decision text, decider text, evidence jsonb, memory_hash bytea, other_hash bytea
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT bigint[] := _pgrecall.seen_ids('memory', ARRAY[apply_curation.memory_id, apply_curation.other_id]);
    own pgrecall.memories;
    other pgrecall.memories;
    closed pgrecall.memories;
    successor pgrecall.memories;
    changed pgrecall.memories;
    curation_id bigint;
    is_shorter boolean;
BEGIN
    evidence := COALESCE(NULLIF(evidence, 'null'), '{}');
    IF decision IS NULL OR decision NOT IN ('ADD', 'UPDATE', 'SUPERSEDE', 'NOOP') OR (decision <> 'ADD' AND other_id IS NULL)
       OR other_id = memory_id THEN
        RAISE EXCEPTION 'a curation is ADD, or UPDATE, SUPERSEDE or NOOP and another memory'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the row that pgrecall.decide_curation() returned.';
    ELSIF jsonb_typeof(evidence) <> 'object' OR octet_length(evidence::text) > 1000000 THEN
        RAISE EXCEPTION 'the evidence of a curation is an object of at most 1,000,000 bytes'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass numbers and ids, no text; NULL: none.';
    ELSIF decider IS NULL OR _pgrecall.is_blank(decider) OR octet_length(decider) > 1024 THEN
        RAISE EXCEPTION 'the decider of a curation has 1 to 1,024 bytes'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Name what decided, with its version.';
    END IF;
    -- Lock both rows in the order of their ids, as supersede() does.
    PERFORM FROM pgrecall.memories m
    WHERE m.id = ANY (seen)
    ORDER BY m.id
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM _pgrecall.raise_read_only(apply_curation.memory_id);
    END IF;
    SELECT c.id INTO curation_id FROM pgrecall.curations c
    WHERE c.memory_id = apply_curation.memory_id AND c.memory_id = ANY (seen) AND c.undone_at IS NULL;
    IF curation_id IS NOT NULL THEN
        RETURN curation_id;
    END IF;
    SELECT m.* INTO own FROM pgrecall.memories m
    WHERE m.id = apply_curation.memory_id AND m.id = ANY (seen) AND m.content_hash = memory_hash
      AND NOT m.is_sensitive AND m.deleted_at IS NULL AND m.superseded_by IS NULL;
    SELECT m.* INTO other FROM pgrecall.memories m
    WHERE m.id = apply_curation.other_id AND m.id = ANY (seen) AND m.content_hash = other_hash AND m.namespace_id = own.namespace_id
      AND NOT m.is_sensitive AND m.deleted_at IS NULL AND m.superseded_by IS NULL;
    IF own.id IS NULL OR (other.id IS NULL AND apply_curation.other_id IS NOT NULL) THEN
        RETURN NULL;
    END IF;

    IF decision <> 'ADD' THEN
        closed := CASE WHEN decision = 'NOOP' THEN own ELSE other END;
        successor := CASE WHEN decision = 'NOOP' THEN other ELSE own END;
        -- A repeated statement stays valid as long as the first: that one must last as long.
        is_shorter := COALESCE(least(successor.expires_at, CASE decision WHEN 'NOOP' THEN successor.valid_to END), 'infinity')
                    < COALESCE(least(closed.expires_at, CASE decision WHEN 'NOOP' THEN closed.valid_to END), 'infinity');
        IF successor.origin < closed.origin OR is_shorter OR NOT _pgrecall.covers(successor, closed) THEN
            evidence := evidence || jsonb_build_object(
                'refused', decision, 'is_less_trusted', own.origin < other.origin, 'is_more_trusted', own.origin > other.origin,
                'is_shorter', is_shorter, 'covers_old', _pgrecall.covers(own, other), 'covers_new', _pgrecall.covers(other, own)
            );
            decision := 'ADD';
        END IF;
    END IF;
    IF decision <> 'ADD' THEN
        UPDATE pgrecall.memories m
        SET superseded_by = successor.id, superseded_at = now(), updated_at = now(),
            -- A repeated statement stays valid.
            valid_to = CASE WHEN decision = 'NOOP' THEN m.valid_to
                            ELSE greatest(m.valid_from, COALESCE(m.valid_to, successor.valid_from, successor.occurred_at, now())) END
        WHERE m.id = closed.id
        RETURNING m.* INTO changed;
        IF changed.id IS NULL THEN
            PERFORM _pgrecall.raise_read_only(closed.id);
            RETURN NULL;
        END IF;
    END IF;
    INSERT INTO pgrecall.curations AS c
        (memory_id, other_id, namespace_id, decision, decider, evidence, before, after)
    VALUES (
        own.id, other.id, own.namespace_id, decision, decider, evidence,
        CASE WHEN decision = 'ADD' THEN '{}' ELSE jsonb_build_object(closed.id, _pgrecall.curation_fields(closed)) END,
        CASE WHEN decision = 'ADD' THEN '{}' ELSE jsonb_build_object(closed.id, _pgrecall.curation_fields(changed)) END
    )
    RETURNING c.id INTO curation_id;
    RETURN curation_id;
END
$function$;

ALTER FUNCTION pgrecall.apply_curation OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.apply_curation TO pgrecall_writer;
