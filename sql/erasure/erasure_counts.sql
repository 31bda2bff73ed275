-- Counts the rows per table that an erasure may delete. The receipt is the difference between before and after.
--
-- memory_ids   the memories
-- concept_ids  concepts that they mention or state facts about
-- terms        their words
CREATE OR REPLACE FUNCTION _pgrecall.erasure_counts(
    namespace_id integer, memory_ids bigint[], concept_ids bigint[], terms text[]
)
RETURNS TABLE (name text, rows bigint)
-- Volatile: it must see the deletions of the same transaction.
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    home CONSTANT integer := erasure_counts.namespace_id;
BEGIN
    RETURN QUERY
    SELECT 'memories', count(*) FROM pgrecall.memories m WHERE m.id = ANY (memory_ids)
    UNION ALL SELECT 'mentions', count(*) FROM pgrecall.mentions m WHERE m.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'relationship_evidence', count(*) FROM pgrecall.relationship_evidence e WHERE e.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'extractions', count(*) FROM pgrecall.extractions x WHERE x.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'temporal_refs', count(*) FROM pgrecall.temporal_refs r WHERE r.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'llm_answers', count(*) FROM pgrecall.llm_answers a WHERE a.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'note_evidence', count(*) FROM pgrecall.note_evidence e
              WHERE e.memory_id = ANY (memory_ids) OR e.note_id = ANY (memory_ids)
    UNION ALL SELECT 'embedding_jobs', count(*) FROM pgrecall.embedding_jobs j WHERE j.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'embedding_failures', count(*) FROM pgrecall.embedding_failures f WHERE f.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'truncated_embeddings', count(*) FROM pgrecall.truncated_embeddings t WHERE t.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'memory_changes', count(*) FROM pgrecall.memory_changes c WHERE c.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'passages', count(*) FROM pgrecall.passages p WHERE p.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'curation_jobs', count(*) FROM pgrecall.curation_jobs j WHERE j.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'curations', count(*) FROM pgrecall.curations c
              WHERE c.memory_id = ANY (memory_ids) OR c.other_id = ANY (memory_ids)
    UNION ALL SELECT 'pending_postings', count(*) FROM pgrecall.pending_postings u WHERE u.memory_id = ANY (memory_ids)
    UNION ALL SELECT 'postings', count(*) FROM pgrecall.postings p
              WHERE p.namespace_id = home AND p.term = ANY (terms) AND p.memory_ids && erasure_counts.memory_ids
    UNION ALL SELECT 'term_stats', count(*) FROM pgrecall.term_stats l WHERE l.namespace_id = home AND l.term = ANY (terms)
    UNION ALL SELECT 'concepts', count(*) FROM pgrecall.concepts c WHERE c.id = ANY (concept_ids)
    UNION ALL SELECT 'concept_aliases', count(*) FROM pgrecall.concept_aliases a WHERE a.concept_id = ANY (concept_ids)
    UNION ALL SELECT 'concept_merges', count(*) FROM pgrecall.concept_merges g WHERE g.concept_id = ANY (concept_ids)
    UNION ALL SELECT 'relationships', count(*) FROM pgrecall.relationships r
              WHERE r.source_id = ANY (concept_ids) OR r.target_id = ANY (concept_ids)
    UNION ALL SELECT 'relation_labels', count(*) FROM pgrecall.relation_labels l WHERE l.namespace_id = home
    UNION ALL SELECT 'judgements', count(*) FROM pgrecall.judgements j WHERE j.namespace_id = home
    UNION ALL SELECT 'judged_queries', count(*) FROM pgrecall.judged_queries q WHERE q.namespace_id = home
    UNION ALL SELECT 'judged_vectors', count(*) FROM pgrecall.judged_vectors v WHERE v.namespace_id = home;
END
$function$;

COMMENT ON FUNCTION _pgrecall.erasure_counts IS 'Counts the rows per table that an erasure may delete.';
