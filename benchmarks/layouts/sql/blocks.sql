-- Postings in arrays, up to 128 a row: a statement writes each term's postings as blocks in the order of impact.
--
-- Nothing is taken out of a block when a memory changes: `removed` says up to which block number what is said of it is
-- out of date, queries look there, and settle() leaves such postings out of what it writes anew.
CREATE SEQUENCE layouts.block_numbers;

CREATE TABLE layouts.blocks (
    number       bigint NOT NULL DEFAULT nextval('layouts.block_numbers'),
    namespace_id integer NOT NULL,
    max_impact   real NOT NULL,
    term         text COLLATE "C" NOT NULL,
    memory_ids   bigint[] NOT NULL,
    impacts      real[] NOT NULL
);
CREATE INDEX blocks_key ON layouts.blocks (namespace_id, term, max_impact DESC);

CREATE TABLE layouts.removed (
    memory_id    bigint PRIMARY KEY,
    block_number bigint NOT NULL
);

-- Up to which number blocks have been put together.
CREATE TABLE layouts.settled (
    block_number bigint NOT NULL
);
INSERT INTO layouts.settled VALUES (0);

CREATE FUNCTION layouts.stored()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO layouts.blocks (namespace_id, term, max_impact, memory_ids, impacts)
    SELECT w.namespace_id, w.term, w.impacts[b.first], w.memory_ids[b.first:b.first + 127], w.impacts[b.first:b.first + 127]
    FROM (
        SELECT p.namespace_id, p.term, array_agg(p.id) AS memory_ids, array_agg(p.impact) AS impacts
        FROM (
            SELECT n.namespace_id, p.term, p.impact, n.id
            FROM new_memories n
            CROSS JOIN LATERAL layouts.postings_of(n.search_vector) p
            WHERE n.deleted_at IS NULL
            ORDER BY n.namespace_id, p.term COLLATE "C", p.impact DESC, n.id
        ) p
        GROUP BY p.namespace_id, p.term
    ) w
    CROSS JOIN LATERAL generate_series(1, cardinality(w.memory_ids), 128) b (first);
    RETURN NULL;
END
$function$;

CREATE FUNCTION layouts.changed()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO layouts.removed AS r (memory_id, block_number) VALUES (OLD.id, nextval('layouts.block_numbers'))
    ON CONFLICT (memory_id) DO UPDATE SET block_number = EXCLUDED.block_number;
    IF NEW.deleted_at IS NULL THEN
        INSERT INTO layouts.blocks (namespace_id, term, max_impact, memory_ids, impacts)
        SELECT NEW.namespace_id, p.term, p.impact, ARRAY[NEW.id], ARRAY[p.impact]
        FROM layouts.postings_of(NEW.search_vector) p;
    END IF;
    RETURN NULL;
END
$function$;

CREATE FUNCTION layouts.gone()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    INSERT INTO layouts.removed AS r (memory_id, block_number)
    SELECT o.id, nextval('layouts.block_numbers') FROM old_memories o
    ON CONFLICT (memory_id) DO UPDATE SET block_number = EXCLUDED.block_number;
    RETURN NULL;
END
$function$;

-- Puts the blocks of a term that are not full together, where there are more than 8, and writes those anew that say
-- something out of date. A full block stays as it is, so that no posting is written anew often.
CREATE PROCEDURE layouts.settle()
LANGUAGE plpgsql
AS $procedure$
BEGIN
    IF (SELECT s.block_number FROM layouts.settled s) = (SELECT n.last_value FROM layouts.block_numbers n) THEN
        RETURN;
    END IF;
    LOCK TABLE layouts.removed IN SHARE ROW EXCLUSIVE MODE;
    WITH unfilled AS (
        SELECT b.namespace_id, b.term
        FROM layouts.blocks b
        WHERE cardinality(b.memory_ids) < 128
        GROUP BY b.namespace_id, b.term
        HAVING count(*) > 8
    ), untidy AS (
        SELECT b.number
        FROM layouts.blocks b
        JOIN unfilled u ON u.namespace_id = b.namespace_id AND u.term = b.term
        WHERE cardinality(b.memory_ids) < 128
        UNION
        SELECT b.number
        FROM layouts.blocks b
        CROSS JOIN LATERAL unnest(b.memory_ids) i (memory_id)
        JOIN layouts.removed r ON r.memory_id = i.memory_id AND b.number <= r.block_number
    ), taken AS (
        DELETE FROM layouts.blocks b USING untidy u WHERE b.number = u.number RETURNING b.*
    )
    INSERT INTO layouts.blocks (namespace_id, term, max_impact, memory_ids, impacts)
    SELECT w.namespace_id, w.term, w.impacts[b.first], w.memory_ids[b.first:b.first + 127], w.impacts[b.first:b.first + 127]
    FROM (
        SELECT p.namespace_id, p.term, array_agg(p.memory_id) AS memory_ids, array_agg(p.impact) AS impacts
        FROM (
            SELECT t.namespace_id, t.term, i.memory_id, i.impact
            FROM taken t
            CROSS JOIN LATERAL unnest(t.memory_ids, t.impacts) i (memory_id, impact)
            WHERE NOT EXISTS (
                SELECT FROM layouts.removed r WHERE r.memory_id = i.memory_id AND t.number <= r.block_number
            )
            ORDER BY t.namespace_id, t.term, i.impact DESC, i.memory_id
        ) p
        GROUP BY p.namespace_id, p.term
    ) w
    CROSS JOIN LATERAL generate_series(1, cardinality(w.memory_ids), 128) b (first);
    TRUNCATE layouts.removed;
    UPDATE layouts.settled SET block_number = (SELECT n.last_value FROM layouts.block_numbers n);
END
$procedure$;
