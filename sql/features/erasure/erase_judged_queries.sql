-- Removes the judged queries of a namespace that quote memories.
--
-- A judged query quotes a memory if the memory is one of its answers, or if its text, id or stratum has a word that no
-- other memory of the namespace has. Call it after the words have left the lexicon and before the memories are deleted.
--
-- terms      words of the memories
-- languages  text-search configurations that produced the words
CREATE OR REPLACE FUNCTION _pgrecall.erase_judged_queries(
    namespace_id integer, memory_ids bigint[], terms text[], languages text[]
)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := erase_judged_queries.namespace_id;
    own text[];
BEGIN
    SELECT COALESCE(array_agg(t.term), '{}') INTO own
    FROM unnest(terms) t (term)
    WHERE NOT EXISTS (SELECT FROM pgrecall.term_stats l WHERE l.namespace_id = home AND l.term = t.term)
      -- Words that are still pending, not in the lexicon.
      AND NOT EXISTS (
          SELECT FROM pgrecall.pending_postings u
          JOIN pgrecall.memories m ON m.id = u.memory_id
          WHERE u.namespace_id = home AND m.namespace_id = home AND m.deleted_at IS NULL
            AND m.id <> ALL (memory_ids) AND t.term = ANY (tsvector_to_array(m.search_vector))
      );
    DELETE FROM pgrecall.judged_queries q
    WHERE q.namespace_id = home AND (
        EXISTS (
            SELECT FROM pgrecall.judgements j
            WHERE j.namespace_id = home AND j.query_id = q.query_id AND j.memory_id = ANY (memory_ids)
        ) OR EXISTS (
            SELECT FROM unnest(languages) l (language)
            WHERE tsvector_to_array(
                _pgrecall.analyze_text(_pgrecall.stored_language(l.language), concat_ws(E'\n', q.query, q.query_id, q.stratum))
            ) && own
        )
    );
    UPDATE pgrecall.judged_queries q
    SET exclude = ARRAY(SELECT e.id FROM unnest(q.exclude) WITH ORDINALITY e (id, place) WHERE e.id <> ALL (memory_ids) ORDER BY e.place)
    WHERE q.namespace_id = home AND q.exclude && memory_ids;
END
$function$;
