-- erase: deletes a memory and all that was derived from it, for good. Returns the receipt, which is kept in pgrecall.erasures.
--
-- In one transaction, all of it or nothing: text, words, postings, embeddings of every generation, mentions, facts, answers of
-- language models, decisions of curation, judged queries that quote it, and the caches of queries of all who see its
-- namespace. A forgotten memory can be erased. To be able to take it back use forget(). What files, backups and copies keep, and
-- what to do about it: docs/erasure.md.
--
-- dry_run  take it back again: the receipt says what would go, has no number and is not kept
--
-- receipt  its number;  counts  how many rows of each table went
--
-- Errors  P0002 no such memory;  42501 it may only be read;  55000 not under read committed;  55P03 in use for too long
CREATE OR REPLACE FUNCTION public.erase(id bigint, dry_run boolean DEFAULT false)
RETURNS TABLE (receipt bigint, namespace_id integer, memory_id bigint, role text, erased_at timestamptz, counts jsonb)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM pgrecall.memories m WHERE m.id = erase.id AND _pgrecall.may_write(m.namespace_id)) THEN
        PERFORM _pgrecall.raise_unknown_memory(erase.id);
    END IF;
    RETURN QUERY
    SELECT e.id, e.namespace_id, e.memory_id, e.role, e.erased_at, e.counts FROM _pgrecall.erase_granted(erase.id, dry_run) e;
END
$function$;

COMMENT ON FUNCTION public.erase IS
    'Deletes a memory and all that was derived from it, for good; returns the receipt. forget() is the one that can be taken back.';

ALTER FUNCTION public.erase OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.erase FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.erase TO pgrecall_writer;
