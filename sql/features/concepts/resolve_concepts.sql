-- Compares new and changed concepts with their neighbours and merges those that mean the same by their letters.
--
-- If a language model may be asked, it also notes the doubtful pairs for pgrecall.doubtful_names, at most five per concept.
--
-- Returns the number of concepts compared, without those that others are changing; call it until it returns 0. The concept with
-- more mentions stays. Only one caller runs at a time; others get 0. If writers hold a namespace's aliases for more than half a
-- second, its concepts wait for the next call: background work gives way.
--
-- batch  maximum number of concepts
CREATE OR REPLACE FUNCTION pgrecall.resolve_concepts(batch integer DEFAULT 100)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET enable_seqscan = 'off'
SET lock_timeout = '500ms'
AS $function$
DECLARE
    home record;
    pair record;
    kept bigint;
    became jsonb := '{}'::jsonb;
    one bigint;
    other bigint;
    chosen bigint[];
    looked_at integer := 0;
    is_asked CONSTANT boolean := _pgrecall.asks_about_names();
BEGIN
    PERFORM FROM pgrecall.locks l WHERE l.home = 0 AND l.name = 'resolve_concepts' FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    FOR home IN
        SELECT c.namespace_id, array_agg(c.id ORDER BY c.id) AS ids, array_agg(c.version ORDER BY c.id) AS versions
        FROM (
            SELECT c.namespace_id, c.id, c.xmin AS version
            FROM pgrecall.concepts c WHERE c.resolved_at IS NULL ORDER BY c.id LIMIT batch
        ) c
        GROUP BY c.namespace_id
        ORDER BY c.namespace_id
    LOOP
        BEGIN
            became := '{}'::jsonb;
            PERFORM _pgrecall.key_concepts(home.ids);
            FOR pair IN
                SELECT own.id, a.alike_id, a.method, a.similarity
                FROM unnest(home.ids) own (id)
                CROSS JOIN LATERAL _pgrecall.similar_concepts(own.id) a
            LOOP
                PERFORM FROM pgrecall.locks l WHERE l.home = home.namespace_id AND l.name = 'names' FOR UPDATE;
                -- Earlier pairs may have merged them into others.
                one := COALESCE((became ->> pair.id::text)::bigint, pair.id);
                other := COALESCE((became ->> pair.alike_id::text)::bigint, pair.alike_id);
                CONTINUE WHEN one = other;
                kept := _pgrecall.merge_alike(one, other, pair.method, pair.similarity);
                CONTINUE WHEN kept IS NULL;
                SELECT COALESCE(
                           jsonb_object_agg(b.key, CASE WHEN b.value IN (one::text, other::text) THEN kept::text ELSE b.value END), '{}'
                       )
                       || jsonb_build_object(pair.id::text, kept, pair.alike_id::text, kept, one::text, kept, other::text, kept)
                INTO became
                FROM jsonb_each_text(became) b;
            END LOOP;
            IF is_asked THEN
                PERFORM _pgrecall.note_doubts(home.ids, home.namespace_id);
            END IF;
        EXCEPTION
            WHEN lock_not_available THEN
                CONTINUE;
        END;
        -- One that has changed since it was read may have a name that was not compared: it stays for the next call.
        chosen := ARRAY(
            SELECT c.id
            FROM unnest(home.ids, home.versions) v (id, version)
            JOIN pgrecall.concepts c ON c.id = v.id AND c.xmin = v.version
            ORDER BY c.id
            FOR NO KEY UPDATE OF c SKIP LOCKED
        );
        -- One that an open transaction has locked waits for a later round: counted, it would have the caller try again at once.
        SELECT looked_at + cardinality(home.ids) - count(c.id)::integer INTO looked_at
        FROM unnest(home.ids, home.versions) v (id, version)
        JOIN pgrecall.concepts c ON c.id = v.id AND c.xmin = v.version AND c.id <> ALL (chosen);
        UPDATE pgrecall.concepts c SET resolved_at = now() WHERE c.id = ANY (chosen);
    END LOOP;
    RETURN looked_at;
END
$function$;

ALTER FUNCTION pgrecall.resolve_concepts OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.resolve_concepts TO pgrecall_embedder;
