-- Counts changes of a namespace's postings, for compact_postings(). The caller holds try_lock_postings().
CREATE OR REPLACE FUNCTION _pgrecall.note_posting_changes(namespace_id integer, changes bigint)
RETURNS void
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    INSERT INTO pgrecall.posting_states AS s (namespace_id, separated_at, changes)
    VALUES (note_posting_changes.namespace_id, '-infinity', note_posting_changes.changes)
    ON CONFLICT ON CONSTRAINT posting_states_pkey DO UPDATE SET changes = s.changes + excluded.changes;
END;
