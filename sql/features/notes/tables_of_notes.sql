-- Declares the tables of notes; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_notes()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "note_evidence": {
        "embedders": true, "written": "INSERT, UPDATE (is_stated)",
        "sensitive": "ids alone; follow_message() withdraws the notes of a message that becomes sensitive",
        "exported": "evidence"
    }
}';
