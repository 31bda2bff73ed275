-- Returns the fields of a memory that curation changes, as JSON, for the log and undo_curation().
CREATE OR REPLACE FUNCTION _pgrecall.curation_fields(memory pgrecall.memories)
RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE
RETURN jsonb_build_object(
    'superseded_by', memory.superseded_by, 'superseded_at', memory.superseded_at, 'valid_to', memory.valid_to,
    'updated_at', memory.updated_at
);
