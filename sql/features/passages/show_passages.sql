-- Returns the passages of a long memory that have an embedding of the active model, in their order: from which character to
-- which.
--
-- number      its place among the passages of the memory, from 1
-- starts_at, ends_at  the characters from starts_at up to, not including, ends_at; the first is 0
CREATE OR REPLACE FUNCTION pgrecall.show_passages(memory_id bigint)
RETURNS TABLE (number integer, starts_at integer, ends_at integer)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 4
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT p.number, p.starts_at, p.ends_at
    FROM pgrecall.passages p
    WHERE p.memory_id = (SELECT _pgrecall.seen_id('memory', show_passages.memory_id)) AND p.generation_id = pgrecall.active_generation()
    ORDER BY p.number;
END;

ALTER FUNCTION pgrecall.show_passages OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION pgrecall.show_passages FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION pgrecall.show_passages TO pgrecall_reader;
