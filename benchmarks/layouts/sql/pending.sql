-- One row a posting, behind a list of memories whose postings are not written yet: queries score those from their
-- words. A statement that stores many memories of a namespace writes their postings at once, as in rows.sql.
CREATE TABLE layouts.postings (
    namespace_id integer NOT NULL,
    term         text COLLATE "C" NOT NULL,
    impact       real NOT NULL,
    memory_id    bigint NOT NULL
);
CREATE UNIQUE INDEX postings_key ON layouts.postings (namespace_id, term, impact DESC, memory_id);
CREATE INDEX postings_memory_idx ON layouts.postings (memory_id);

CREATE TABLE layouts.waiting (
    memory_id bigint PRIMARY KEY
);

CREATE FUNCTION layouts.stored()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
DECLARE
    many CONSTANT integer := 256;
    large integer[];
BEGIN
    SELECT array_agg(c.namespace_id) INTO large
    FROM (
        SELECT n.namespace_id FROM new_memories n WHERE n.deleted_at IS NULL
        GROUP BY n.namespace_id HAVING count(*) >= many
    ) c;
    IF large IS NOT NULL THEN
        INSERT INTO layouts.postings (namespace_id, term, impact, memory_id)
        SELECT n.namespace_id, p.term, p.impact, n.id
        FROM new_memories n
        CROSS JOIN LATERAL layouts.postings_of(n.search_vector) p
        WHERE n.deleted_at IS NULL AND n.namespace_id = ANY (large)
        ORDER BY n.namespace_id, p.term COLLATE "C", p.impact DESC, n.id;
        PERFORM layouts.add_to_lexicon(array_agg(n.namespace_id), array_agg(n.search_vector), 1)
        FROM new_memories n WHERE n.deleted_at IS NULL AND n.namespace_id = ANY (large);
    END IF;
    INSERT INTO layouts.waiting (memory_id)
    SELECT n.id FROM new_memories n
    WHERE n.deleted_at IS NULL AND n.namespace_id <> ALL (COALESCE(large, '{}'));
    RETURN NULL;
END
$function$;

CREATE FUNCTION layouts.changed()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO layouts.waiting (memory_id) VALUES (NEW.id) ON CONFLICT (memory_id) DO NOTHING;
    RETURN NULL;
END
$function$;

CREATE FUNCTION layouts.gone()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO layouts.waiting (memory_id) SELECT o.id FROM old_memories o ON CONFLICT (memory_id) DO NOTHING;
    RETURN NULL;
END
$function$;

-- Writes the postings of the memories on the list, and counts them.
CREATE PROCEDURE layouts.settle()
LANGUAGE plpgsql
AS $procedure$
DECLARE
    claimed bigint[];
BEGIN
    SELECT array_agg(w.memory_id) INTO claimed FROM (SELECT w.memory_id FROM layouts.waiting w FOR UPDATE) w;
    IF claimed IS NULL THEN
        RETURN;
    END IF;
    WITH gone AS (
        DELETE FROM layouts.postings p WHERE p.memory_id = ANY (claimed)
        RETURNING p.namespace_id, p.term, p.memory_id
    ), change AS (
        SELECT g.namespace_id, g.term, count(*) AS memories FROM gone g GROUP BY g.namespace_id, g.term
        UNION ALL
        SELECT g.namespace_id, '', count(DISTINCT g.memory_id) FROM gone g GROUP BY g.namespace_id
    )
    UPDATE layouts.lexicon l SET memories = l.memories - c.memories
    FROM change c WHERE l.namespace_id = c.namespace_id AND l.term = c.term;
    INSERT INTO layouts.postings (namespace_id, term, impact, memory_id)
    SELECT m.namespace_id, p.term, p.impact, m.id
    FROM pgrecall.memories m
    CROSS JOIN LATERAL layouts.postings_of(m.search_vector) p
    WHERE m.id = ANY (claimed) AND m.deleted_at IS NULL
    ORDER BY m.namespace_id, p.term COLLATE "C", p.impact DESC, m.id;
    PERFORM layouts.add_to_lexicon(array_agg(m.namespace_id), array_agg(m.search_vector), 1)
    FROM pgrecall.memories m WHERE m.id = ANY (claimed) AND m.deleted_at IS NULL;
    DELETE FROM layouts.waiting w WHERE w.memory_id = ANY (claimed);
END
$procedure$;
