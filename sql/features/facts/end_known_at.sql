-- Returns the end of a relationship as it was known at a time: what a later memory ended was still valid then.
--
-- valid_to, superseded_at  of the relationship;  as_of  not NULL: callers take valid_to then, which costs no call for each row
CREATE OR REPLACE FUNCTION _pgrecall.end_known_at(
    relationship_id bigint, valid_to timestamptz, superseded_at timestamptz, as_of timestamptz
)
RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN superseded_at <= as_of THEN valid_to
    -- Unless the contradiction was known: what was stated until then.
    ELSE (
        SELECT min(e.valid_to)
        FROM pgrecall.relationship_evidence e
        JOIN pgrecall.memories m ON m.id = e.memory_id
        WHERE e.relationship_id = end_known_at.relationship_id AND m.created_at <= as_of
    )
END;
