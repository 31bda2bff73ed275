-- One row a posting, written at once by the statement that stores the memories, in the order of the index.
CREATE TABLE layouts.postings (
    namespace_id integer NOT NULL,
    term         text COLLATE "C" NOT NULL,
    impact       real NOT NULL,
    memory_id    bigint NOT NULL
);
CREATE UNIQUE INDEX postings_key ON layouts.postings (namespace_id, term, impact DESC, memory_id);
CREATE INDEX postings_memory_idx ON layouts.postings (memory_id);

CREATE FUNCTION layouts.stored()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO layouts.postings (namespace_id, term, impact, memory_id)
    SELECT n.namespace_id, p.term, p.impact, n.id
    FROM new_memories n
    CROSS JOIN LATERAL layouts.postings_of(n.search_vector) p
    WHERE n.deleted_at IS NULL
    ORDER BY n.namespace_id, p.term COLLATE "C", p.impact DESC, n.id;
    RETURN NULL;
END
$function$;

CREATE FUNCTION layouts.changed()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    DELETE FROM layouts.postings p WHERE p.memory_id = OLD.id;
    IF NEW.deleted_at IS NULL THEN
        INSERT INTO layouts.postings (namespace_id, term, impact, memory_id)
        SELECT NEW.namespace_id, p.term, p.impact, NEW.id FROM layouts.postings_of(NEW.search_vector) p;
    END IF;
    RETURN NULL;
END
$function$;

CREATE FUNCTION layouts.gone()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    DELETE FROM layouts.postings p USING old_memories o WHERE p.memory_id = o.id;
    RETURN NULL;
END
$function$;
