-- Gives memories of an older version the lexemes of their values (value_terms) and of letters that are folded now, in pieces of a
-- thousand, each in a transaction.
--
-- Run it once after an upgrade. Until then older memories are found by their words as they were folded then. Writes and recalls
-- continue meanwhile; no embedding, history or time of change is touched.
CREATE OR REPLACE PROCEDURE pgrecall.rebuild_values()
LANGUAGE plpgsql
AS $procedure$
DECLARE
    last bigint := 0::bigint;
    stop bigint;
BEGIN
    LOOP
        COMMIT;
        -- A procedure that commits cannot have a SET clause.
        SET LOCAL search_path = pg_catalog, pgrecall, pg_temp;
        SELECT max(p.id) INTO stop FROM (SELECT m.id FROM pgrecall.memories m WHERE m.id > last ORDER BY m.id LIMIT 1000) p;
        EXIT WHEN stop IS NULL;
        -- The trigger memories_10_derive computes the column.
        UPDATE pgrecall.memories m SET search_vector = m.search_vector
        WHERE m.id > last AND m.id <= stop AND concat(m.title, m.content, m.tags, m.category, m.expanded_keywords) ~ E'[0-9\u0080-\uffff]';
        last := stop;
    END LOOP;
END
$procedure$;
