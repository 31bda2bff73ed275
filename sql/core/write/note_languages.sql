-- Triggers on memories: maintain namespaces.languages, the text-search configurations of a namespace's memories.
--
-- The namespace is updated only when a language appears for the first time, and read without a lock otherwise. Two
-- transactions that add the same language wait for each other once. A statement locks namespaces in the order of their
-- ids, so that two statements do not deadlock.
CREATE OR REPLACE FUNCTION _pgrecall.note_languages()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
DECLARE
    newcomer record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR newcomer IN
            SELECT n.id, array_agg(DISTINCT m.language ORDER BY m.language) AS languages
            FROM new_memories m
            JOIN pgrecall.namespaces n ON n.id = m.namespace_id
            WHERE m.language <> ALL (n.languages)
            GROUP BY n.id
            ORDER BY n.id
        LOOP
            UPDATE pgrecall.namespaces n
            SET languages = n.languages || ARRAY(
                SELECT l.language FROM unnest(newcomer.languages) AS l (language) WHERE l.language <> ALL (n.languages)
            )
            WHERE n.id = newcomer.id AND NOT n.languages @> newcomer.languages;
        END LOOP;
    ELSE
        UPDATE pgrecall.namespaces n SET languages = n.languages || NEW.language
        WHERE n.id = NEW.namespace_id AND NEW.language <> ALL (n.languages);
    END IF;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_30_languages_insert
    AFTER INSERT ON pgrecall.memories
    REFERENCING NEW TABLE AS new_memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.note_languages();

CREATE OR REPLACE TRIGGER memories_30_languages_update
    AFTER UPDATE OF language, namespace_id ON pgrecall.memories
    FOR EACH ROW
    WHEN ((OLD.language, OLD.namespace_id) IS DISTINCT FROM (NEW.language, NEW.namespace_id))
    EXECUTE FUNCTION _pgrecall.note_languages();
