-- Locks memories, the notes of those that are messages, and the names of all of them, before the memories are changed.
--
-- A message that changes withdraws its notes (follow_message). Locked only then, after the names of the message, they would deadlock
-- with whoever changes a note or another of its messages. Rows come before names, in the order of ids, as for every writer of
-- several memories. A single memory needs no more than its row: its change locks its names in order.
--
-- language  that the memories get; NULL: they keep theirs
CREATE OR REPLACE FUNCTION _pgrecall.lock_with_notes(memory_ids bigint[], language text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
SET enable_seqscan = 'off'
AS $function$
DECLARE
    locked bigint[];
BEGIN
    SELECT array_agg(l.id) INTO locked
    FROM (
        SELECT m.id FROM pgrecall.memories m
        WHERE m.id = ANY (memory_ids || ARRAY(SELECT e.note_id FROM pgrecall.note_evidence e WHERE e.memory_id = ANY (memory_ids)))
        ORDER BY m.id FOR NO KEY UPDATE
    ) l;
    IF cardinality(locked) > 1 THEN
        -- note_languages() changes the namespace, which comes before names.
        PERFORM FROM pgrecall.namespaces n
        WHERE n.id IN (SELECT m.namespace_id FROM pgrecall.memories m WHERE m.id = ANY (memory_ids))
          AND lock_with_notes.language <> ALL (n.languages)
        ORDER BY n.id
        FOR NO KEY UPDATE;
        PERFORM _pgrecall.lock_names(locked);
    END IF;
END
$function$;
