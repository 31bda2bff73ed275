-- Triggers on memories: keep the postings consistent with search_vector, and with what is over (is_past).
--
-- A statement that stores many memories of a namespace indexes them at once. All other changes are recorded in
-- pgrecall.pending_postings, which recall reads too, and flushed into the postings later. Writing an embedding does not
-- fire these triggers. SECURITY DEFINER, so that there is no other way to write postings.
CREATE OR REPLACE FUNCTION _pgrecall.queue_postings()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    stored record;
    fresh bigint[];
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        -- TRUNCATE refuses a table with pending deferred triggers. Run them now; they have almost nothing to do.
        TRUNCATE pgrecall.postings, pgrecall.term_stats;
        SET CONSTRAINTS pgrecall.flush_pending_on_commit IMMEDIATE;
        SET CONSTRAINTS pgrecall.flush_pending_on_commit DEFERRED;
        PERFORM set_config('pgrecall.flushed_postings', '', true);
        TRUNCATE pgrecall.pending_postings;
    ELSIF TG_OP = 'INSERT' THEN
        FOR stored IN
            SELECT n.namespace_id, array_agg(n.id) AS ids FROM new_memories n WHERE n.deleted_at IS NULL GROUP BY n.namespace_id
        LOOP
            -- A reused id may still be pending, with old postings to remove. It stays pending.
            IF cardinality(stored.ids) >= 256 AND _pgrecall.try_lock_postings(stored.namespace_id) THEN
                SELECT array_agg(s.id) INTO fresh
                FROM unnest(stored.ids) s (id)
                WHERE NOT EXISTS (
                    SELECT FROM pgrecall.pending_postings u WHERE u.memory_id = s.id AND u.namespace_id = stored.namespace_id
                );
                PERFORM _pgrecall.index_memories(stored.namespace_id, fresh) WHERE fresh IS NOT NULL;
            ELSE
                INSERT INTO pgrecall.pending_postings AS u (memory_id, namespace_id)
                SELECT s.id, stored.namespace_id FROM unnest(stored.ids) s (id)
                ON CONFLICT ON CONSTRAINT pending_postings_pkey DO UPDATE SET indexed_vector = u.indexed_vector;
            END IF;
        END LOOP;
    ELSE
        -- Record what the postings contain now, unless an earlier change has recorded it. The update without effect
        -- locks the row, so that nobody flushes it before this transaction's change is visible.
        INSERT INTO pgrecall.pending_postings AS u (memory_id, namespace_id, indexed_vector, indexed_past)
        VALUES (
            OLD.id, OLD.namespace_id, CASE WHEN OLD.deleted_at IS NULL THEN OLD.search_vector END,
            OLD.deleted_at IS NULL AND _pgrecall.is_past(OLD, _pgrecall.separated_at(OLD.namespace_id))
        )
        ON CONFLICT ON CONSTRAINT pending_postings_pkey DO UPDATE SET indexed_vector = u.indexed_vector;
        IF TG_OP = 'UPDATE' THEN
            INSERT INTO pgrecall.pending_postings AS u (memory_id, namespace_id)
            SELECT NEW.id, NEW.namespace_id WHERE (NEW.id, NEW.namespace_id) <> (OLD.id, OLD.namespace_id)
            ON CONFLICT ON CONSTRAINT pending_postings_pkey DO UPDATE SET indexed_vector = u.indexed_vector;
        END IF;
    END IF;
    RETURN NULL;
END
$function$;

ALTER FUNCTION _pgrecall.queue_postings OWNER TO pgrecall_engine;

CREATE OR REPLACE TRIGGER memories_60_postings_insert
    AFTER INSERT ON pgrecall.memories
    REFERENCING NEW TABLE AS new_memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.queue_postings();

CREATE OR REPLACE TRIGGER memories_60_postings_update
    AFTER UPDATE ON pgrecall.memories
    FOR EACH ROW
    WHEN ((OLD.deleted_at IS NULL OR NEW.deleted_at IS NULL)
          AND (OLD.id, OLD.namespace_id, OLD.deleted_at IS NULL, OLD.search_vector, OLD.superseded_by IS NULL, OLD.valid_to, OLD.expires_at)
              IS DISTINCT FROM (NEW.id, NEW.namespace_id, NEW.deleted_at IS NULL, NEW.search_vector, NEW.superseded_by IS NULL,
                                 NEW.valid_to, NEW.expires_at))
    EXECUTE FUNCTION _pgrecall.queue_postings();

CREATE OR REPLACE TRIGGER memories_60_postings_delete
    AFTER DELETE ON pgrecall.memories
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.queue_postings();

CREATE OR REPLACE TRIGGER memories_60_postings_truncate
    AFTER TRUNCATE ON pgrecall.memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.queue_postings();
