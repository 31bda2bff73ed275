-- Returns the older memories of the namespace to compare a memory with, nearest first.
--
-- Uses the dense index if the memory has an embedding, and words if it has none or the namespace is small. Both sides
-- exclude sensitive, forgotten and superseded memories, and turns of a conversation (with a position in a session):
-- "yes" said twice is two answers. So are memories that are over or have expired, and pairs that undo_curation() has separated.
--
-- Runs as pgrecall_engine, like rank_granted(), because row-level security blocks the indexes of words and vectors. It
-- checks the grant once.
--
-- cosine  NULL if either memory has no embedding
CREATE OR REPLACE FUNCTION _pgrecall.curation_candidates(memory_id bigint, depth integer DEFAULT 5)
RETURNS TABLE (other_id bigint, cosine double precision)
-- Restricted: a parallel worker does not see SET ROLE in the setting.
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 5
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    generation CONSTANT integer := pgrecall.active_generation();
    visible CONSTANT pgrecall.recall_filter := jsonb_populate_record(NULL::pgrecall.recall_filter, '{"include_sensitive": false}');
    own pgrecall.memories;
    own_embedding pgvector.halfvec;
    near bigint[];
    alike bigint[] := '{}'::bigint[];
    terms text[];
BEGIN
    SELECT m.* INTO own FROM pgrecall.memories m
    WHERE m.id = curation_candidates.memory_id
      AND NOT m.is_sensitive AND m.deleted_at IS NULL AND m.superseded_by IS NULL
      AND (m.session IS NULL OR m."position" IS NULL);
    IF own.id IS NULL OR NOT (
        _pgrecall.is_embedder() OR _pgrecall.may_read(own.namespace_id)
    ) THEN
        RETURN;
    END IF;
    own_embedding := _pgrecall.embedding_of(own, generation);
    -- Planned with its arguments, so that embedding_of() is a column with an index. The depth allows for exclusions.
    SELECT array_agg(d.id ORDER BY d.rank) INTO near
    FROM _pgrecall.dense_leg(
        own.namespace_id, own_embedding,
        visible, 4 * depth + 8, 5000, generation
    ) d;
    IF near IS NULL THEN
        terms := ARRAY(
            SELECT w.term FROM _pgrecall.query_term_weights(own.namespace_id, tsvector_to_array(own.search_vector), 16) w
        );
        EXECUTE $statement$
            SELECT array_agg(s.id)
            FROM (
                SELECT m.id
                FROM pgrecall.memories m
                WHERE m.namespace_id = $1 AND m.id < $3
                  AND m.id = ANY ((SELECT _pgrecall.matching_memories($1, _pgrecall.match_any_term($2)))::bigint[])
                  AND m.search_vector @@ _pgrecall.match_any_term($2)
                  AND _pgrecall.matches_filter(m, $5)
                ORDER BY ts_rank(m.search_vector, _pgrecall.match_any_term($2), 1) DESC, m.id
                LIMIT $4
            ) s
        $statement$
        INTO alike
        USING own.namespace_id, terms, own.id, 2 * depth, visible;
    END IF;
    RETURN QUERY
        SELECT m.id, 1 - (_pgrecall.embedding_of(m, generation) OPERATOR(pgvector.<=>) own_embedding)
        FROM unnest(near || alike) WITH ORDINALITY c (id, place)
        JOIN pgrecall.memories m ON m.id = c.id
        WHERE m.id < own.id AND m.namespace_id = own.namespace_id
          AND _pgrecall.matches_filter(m, visible)
          AND (m.session IS NULL OR m."position" IS NULL)
          AND NOT EXISTS (
              SELECT FROM pgrecall.curations u
              WHERE u.undone_at IS NOT NULL AND u.memory_id = own.id AND u.other_id = m.id
          )
        ORDER BY c.place
        LIMIT depth;
END
$function$;

ALTER FUNCTION _pgrecall.curation_candidates OWNER TO pgrecall_engine;
