-- Leases pending memories to a worker, newest first and fair to namespaces. Returns the text to embed, and the hash and
-- ticket to pass to complete_claimed().
--
-- A memory is pending while its embedding in the generation is NULL and it is neither sensitive nor forgotten. Half of a
-- batch are the most recently written memories, the other half the newest of as many namespaces as possible (job_choice).
-- Skips rows that another worker is claiming at this moment. Commit before embedding: the lease outlives the transaction.
--
-- An expired lease counts as an attempt: the text may have crashed its worker. After five attempts the memory has failed.
--
-- A retired generation has no pending memories, so a daemon that has not noticed the switch sends no text to its model.
--
-- batch       maximum number of memories
-- lease       when another worker may claim them
-- generation  NULL: the active one
--
-- is_sensitive  always false; a daemon that sends texts to a provider checks it again
-- ticket        argument of complete_claimed()
-- passages      texts to embed as well if the memory is long, else NULL
--
-- Errors  22023 a batch or lease out of range
CREATE OR REPLACE FUNCTION pgrecall.claim(
    worker uuid, batch integer DEFAULT 64, lease interval DEFAULT '2 minutes', generation integer DEFAULT NULL
)
RETURNS TABLE (
    memory_id bigint, content_hash bytea, content text, is_sensitive boolean, ticket bigint, passages text[]
)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 64
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    made_for pgrecall.generations;
    ids bigint[];
    tickets bigint[];
BEGIN
    PERFORM _pgrecall.check_claim(batch, lease);
    -- Keeps the generation from being dropped between its row and its column.
    PERFORM FROM pgrecall.memories m WHERE false;
    SELECT g.* INTO made_for FROM pgrecall.generations g
    WHERE g.id = COALESCE(claim.generation, pgrecall.active_generation());
    IF made_for.id IS NULL OR made_for.state = 'retired' THEN
        RETURN;
    END IF;
    SELECT array_agg(l.memory_id), array_agg(l.ticket) INTO ids, tickets
    FROM _pgrecall.lease_jobs('embedding', worker, batch, lease, made_for) l;
    -- By EXECUTE: a plan made while the tables were empty would scan them from then on.
    RETURN QUERY EXECUTE $statement$
        SELECT m.id, m.content_hash,
               _pgrecall.embedding_text(m.title, m.content, m.expanded_keywords, recipe.recipe), m.is_sensitive,
               l.ticket, _pgrecall.passage_texts(m.title, m.content)
        FROM unnest($1, $2) l (id, ticket)
        JOIN pgrecall.memories m ON m.id = l.id
        CROSS JOIN (SELECT _pgrecall.embedding_recipe() AS recipe) recipe
        WHERE NOT m.is_sensitive AND m.deleted_at IS NULL
        ORDER BY m.updated_at DESC, m.id DESC
    $statement$
    USING ids, tickets;
END
$function$;

ALTER FUNCTION pgrecall.claim OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.claim TO pgrecall_embedder;
