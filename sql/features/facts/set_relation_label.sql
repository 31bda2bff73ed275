-- Maps a relationship label to its canonical label and relabels stored relationships. Can be changed later.
--
-- Returns the number of changed statements.
--
-- Relationships that become equal are merged. Evidence keeps the original label, so a later decision can undo this one:
-- mapping a label to itself separates them again. Mappings are followed (a to b, b to c: a is c). If two labels would
-- map to each other, alias is the one that stays. So a circle of labels, if there is one, is opened at the alias.
--
-- alias       the label as stated
-- label       its canonical label; the alias itself makes it canonical
-- method      rule, embedding or llm
-- similarity  of the two, from -1 to 1; NULL: not compared
--
-- Errors  22023 a label that is empty or longer than 200 characters, an unknown method, or a similarity outside -1 to 1;
--         42704 no such namespace;  40001 another session has mapped labels since the transaction's snapshot
CREATE OR REPLACE FUNCTION pgrecall.set_relation_label(
    namespace_id integer, alias text, label text, method text DEFAULT 'rule', similarity double precision DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    stated text := _pgrecall.normalize_label(alias);
    new_label text := _pgrecall.normalize_label(label);
    -- Of equal vectors a cosine can be a little above 1.
    cosine CONSTANT numeric := round(similarity::numeric, 6);
    old_label text;
    mapped_labels text[];
    old record;
    kept_id bigint;
    touched bigint[] := '{}'::bigint[];
    moved bigint := 0::bigint;
    changed bigint;
BEGIN
    IF COALESCE(length(stated), 0) NOT BETWEEN 1 AND 200 OR COALESCE(length(new_label), 0) NOT BETWEEN 1 AND 200 THEN
        RAISE EXCEPTION 'a label must have 1 to 200 characters'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the label as stated, and its canonical label.';
    ELSIF method IS NULL OR method NOT IN ('rule', 'embedding', 'llm') THEN
        RAISE EXCEPTION 'method must be rule, embedding or llm, not %', COALESCE(left(method, 40), 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'The method says who decided.';
    ELSIF cosine NOT BETWEEN -1 AND 1 THEN
        RAISE EXCEPTION 'similarity must be from -1 to 1, not %', similarity
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the cosine of the two labels, or NULL.';
    ELSIF NOT EXISTS (SELECT FROM pgrecall.namespaces n WHERE n.id = namespace_id) THEN
        RAISE EXCEPTION 'there is no namespace %', COALESCE(namespace_id::text, 'NULL')
            USING ERRCODE = 'undefined_object', HINT = 'pgrecall.namespace_id(NAME) gives the id of a namespace.';
    END IF;
    PERFORM _pgrecall.lock_relationships(ARRAY[namespace_id]);
    -- A snapshot from before this call would not see the mapping: who takes the lock with one fails, as the row has changed.
    UPDATE pgrecall.locks l SET name = l.name WHERE l.home = set_relation_label.namespace_id AND l.name = 'facts';
    old_label := pgrecall.canonical_label(namespace_id, stated);
    -- All statements under labels that map to this one.
    WITH RECURSIVE mapped_label (label) AS (
        SELECT stated COLLATE "C"
        UNION
        SELECT l.alias FROM mapped_label k JOIN pgrecall.relation_labels l ON l.label = k.label
        WHERE l.namespace_id = set_relation_label.namespace_id
    )
    SELECT array_agg(k.label) INTO mapped_labels FROM mapped_label k;
    new_label := CASE WHEN new_label = ANY (mapped_labels) THEN stated ELSE pgrecall.canonical_label(namespace_id, new_label) END;
    INSERT INTO pgrecall.relation_labels AS l (namespace_id, alias, label, method, similarity)
    VALUES (set_relation_label.namespace_id, stated, new_label, set_relation_label.method, cosine)
    ON CONFLICT ON CONSTRAINT relation_labels_pkey DO UPDATE
        SET label = EXCLUDED.label, method = EXCLUDED.method, similarity = EXCLUDED.similarity, decided_at = now();

    FOR old IN
        SELECT r.id, r.namespace_id, r.label, r.source_id, r.source_alias_id, r.target_id, r.target_alias_id
        FROM pgrecall.relationships r
        WHERE r.namespace_id = set_relation_label.namespace_id AND r.label = ANY (mapped_labels || old_label)
          AND r.label <> new_label
          AND EXISTS (
              SELECT FROM pgrecall.relationship_evidence e
              WHERE e.relationship_id = r.id AND COALESCE(e.label, r.label) = ANY (mapped_labels)
          )
        ORDER BY r.id
    LOOP
        SELECT min(r.id) INTO kept_id FROM pgrecall.relationships r
        WHERE r.source_id = old.source_id AND r.label = new_label AND r.target_id = old.target_id
          AND r.source_alias_id = old.source_alias_id AND r.target_alias_id = old.target_alias_id;
        IF kept_id IS NULL THEN
            INSERT INTO pgrecall.relationships AS r (namespace_id, source_id, source_alias_id, target_id, target_alias_id, label)
            VALUES (old.namespace_id, old.source_id, old.source_alias_id, old.target_id, old.target_alias_id, new_label)
            RETURNING r.id INTO kept_id;
        END IF;
        UPDATE pgrecall.relationship_evidence e SET relationship_id = kept_id, label = COALESCE(e.label, old.label)
        WHERE e.relationship_id = old.id AND COALESCE(e.label, old.label) = ANY (mapped_labels);
        GET DIAGNOSTICS changed = ROW_COUNT;
        moved := moved + changed;
        touched := touched || old.id || kept_id;
    END LOOP;
    -- No alias loses a relationship: it has the same one under the new label.
    PERFORM _pgrecall.refresh_relationships(touched);
    RETURN moved;
END
$function$;

ALTER FUNCTION pgrecall.set_relation_label OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.set_relation_label TO pgrecall_writer, pgrecall_embedder;
