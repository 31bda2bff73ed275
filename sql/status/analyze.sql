-- Refreshes the planner's statistics of pgrecall's tables. Call it after a large import.
CREATE OR REPLACE FUNCTION pgrecall.analyze()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    ANALYZE pgrecall.namespaces, pgrecall.memories, pgrecall.postings, pgrecall.term_stats, pgrecall.pending_postings,
        pgrecall.concepts, pgrecall.concept_aliases, pgrecall.mentions, pgrecall.relationships, pgrecall.relationship_evidence,
        pgrecall.temporal_refs, pgrecall.extractions, pgrecall.embedding_jobs, pgrecall.embedding_failures;
END
$function$;

COMMENT ON FUNCTION pgrecall.analyze IS 'Refreshes the planner''s statistics of pgrecall''s tables. Call it after a large import.';
