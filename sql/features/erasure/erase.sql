-- Permanently deletes a memory and all data derived from it; returns the receipt, which pgrecall.erasures keeps. Use
-- forget() for a deletion that can be reverted.
--
-- One transaction deletes its text, words, postings, embeddings of every generation, mentions, facts, language-model
-- answers, curation decisions, judged queries that quote it, and the query caches of all roles that see its namespace.
-- A forgotten memory can be erased. Use forget() for a deletion that can be reverted. docs/erasure.md covers files,
-- backups and copies.
--
-- dry_run  roll back: the receipt shows what would be deleted, has no number and is not kept
--
-- receipt  its number;  counts  number of deleted rows per table
--
-- Errors  P0002 no such memory;  42501 read-only for this role;  55000 not under read committed;
--         55P03 locked for too long
CREATE OR REPLACE FUNCTION public.erase(id bigint, dry_run boolean DEFAULT false)
RETURNS TABLE (receipt bigint, namespace_id integer, memory_id bigint, role text, erased_at timestamptz, counts jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM pgrecall.memories m WHERE m.id = (SELECT _pgrecall.seen_id('memory', erase.id))
        AND _pgrecall.may_write(m.namespace_id)) THEN
        PERFORM _pgrecall.raise_unknown_memory(erase.id);
    END IF;
    RETURN QUERY
    SELECT e.id, e.namespace_id, e.memory_id, e.role, e.erased_at, e.counts
    FROM _pgrecall.erase_granted(ARRAY[erase.id], dry_run) e;
    IF NOT FOUND THEN
        PERFORM _pgrecall.raise_unknown_memory(erase.id);
    END IF;
END
$function$;

ALTER FUNCTION public.erase OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.erase FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.erase TO pgrecall_writer;
