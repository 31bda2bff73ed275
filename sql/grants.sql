-- Who may do what. Installed last; nothing is left to PUBLIC.
--
-- The roles that are granted to logins call functions, and have no privilege on a table that holds what anybody remembers:
--
-- pgrecall_reader    recalls, and measures how well
-- pgrecall_writer    and remembers, revises, supersedes, forgets, judges
-- pgrecall_embedder  claims pending memories and writes back what it made of them
-- pgrecall_admin     every function, and every row of every table; owns nothing
--
-- Whose rows: policies.sql. Two roles that nobody is granted own the functions that run with their owner's rights:
--
-- pgrecall_gate      what the roles above call: as it, but with the rows of whoever calls
-- pgrecall_engine    ranking, postings: every row; only the gate calls it, and triggers
--
-- Nothing runs with the rights of the role that installed it.
REVOKE ALL ON SCHEMA pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
REVOKE ALL ON ALL TABLES IN SCHEMA pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
REVOKE ALL ON ALL ROUTINES IN SCHEMA pgrecall
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;
REVOKE ALL ON FUNCTION
    public.erase, public.erase_namespace, public.forget, public.graph_ppr, public.parse_timeframe, public.recall, public.recall_briefing, public.recall_embed,
    public.recall_explain, public.recall_facts, public.recall_status, public.recall_timeline, public.remember,
    public.remember_many, public.revise, public.supersede, public.undo_curation
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin, pgrecall_gate, pgrecall_engine;

GRANT USAGE ON SCHEMA pgrecall TO pgrecall_reader, pgrecall_embedder, pgrecall_gate, pgrecall_engine;

-- How things are set up: no tenant's. With the functions that the views use.
GRANT SELECT ON
    pgrecall.alembic_version, pgrecall.embedding_models, pgrecall.generations, pgrecall.installation,
    pgrecall.profile_definitions, pgrecall.profiles, pgrecall.setting_definitions, pgrecall.settings,
    pgrecall.settings_in_force, pgrecall.settings_reference
    TO pgrecall_reader, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION pgrecall.accepted, pgrecall.accepts, pgrecall.is_exact_query, pgrecall.resolved_settings
    TO pgrecall_reader, pgrecall_embedder;

-- What tenants call.
GRANT EXECUTE ON FUNCTION
    public.graph_ppr, public.parse_timeframe, public.recall, public.recall_briefing, public.recall_embed,
    public.recall_explain, public.recall_facts, public.recall_status, public.recall_timeline, pgrecall.curation_log,
    pgrecall.curation_question, pgrecall.preview_curation, pgrecall.uncurated, pgrecall.decide_curation,
    pgrecall.duplicates, pgrecall.copy_digests, pgrecall.copy_memories, pgrecall.copy_source, pgrecall.copy_versions,
    pgrecall.is_committed, pgrecall.is_shown, pgrecall.export_memories, pgrecall.last_memory_id, pgrecall.find_concept,
    pgrecall.concept_neighbours, pgrecall.show_concept, pgrecall.list_concepts, pgrecall.memories_of_concept, pgrecall.graph_export,
    pgrecall.memory_validity, pgrecall.normalise, pgrecall.judged_recall, pgrecall.recall_eval, pgrecall.failures,
    pgrecall.health, pgrecall.index_status, pgrecall.worker_status, pgrecall.generation_progress,
    pgrecall.ask_embedding, pgrecall.awaited_embedding, pgrecall.answered_embedding, pgrecall.known_embedding, pgrecall.unknown_labels,
    pgrecall.ask_expansion, pgrecall.keep_expansion, pgrecall.is_expandable, pgrecall.list_namespaces,
    pgrecall.english_timeframe, pgrecall.namespace_id, pgrecall.namespace_name, pgrecall.active_generation, pgrecall.active_model,
    pgrecall.embedding_dimension, pgrecall.bundle_hash, pgrecall.settings_list, pgrecall.stored_setting
    TO pgrecall_reader;
GRANT EXECUTE ON FUNCTION
    public.erase, public.erase_namespace, public.forget, public.remember, public.remember_many, public.revise,
    public.supersede, public.undo_curation, pgrecall.create_namespace, pgrecall.import_memories, pgrecall.link_memories, pgrecall.adopt_memories,
    pgrecall.adopted_memories, pgrecall.push_write, pgrecall.apply_curation, pgrecall.curate, pgrecall.judge,
    pgrecall.unjudge, pgrecall.retry_failures, pgrecall.redo_extractions, pgrecall.complete,
    pgrecall.set_relation_label, pgrecall.merge_concepts, pgrecall.split_concept, pgrecall.add_alias,
    pgrecall.remove_alias
    TO pgrecall_writer;

-- What embedders call.
GRANT EXECUTE ON FUNCTION
    pgrecall.claim, pgrecall.complete_claimed, pgrecall.fail, pgrecall.release, pgrecall.heartbeat, pgrecall.retire,
    pgrecall.waiting, pgrecall.claim_extractions, pgrecall.complete_extractions, pgrecall.fail_extraction,
    pgrecall.release_extractions, pgrecall.extraction_setup, pgrecall.claim_curations, pgrecall.curate_claimed,
    pgrecall.release_curations, pgrecall.curation_question, pgrecall.claim_queries, pgrecall.answer_queries,
    pgrecall.trim_queries, pgrecall.resolve_concepts, pgrecall.embed_concepts, pgrecall.unembedded_concepts,
    pgrecall.known_labels, pgrecall.unknown_labels, pgrecall.canonical_label, pgrecall.set_relation_label,
    pgrecall.cached_answers, pgrecall.keep_answers, pgrecall.record_llm_usage, pgrecall.fold_postings,
    pgrecall.generation_statements, pgrecall.active_generation, pgrecall.active_model, pgrecall.bundle_hash,
    pgrecall.embedded_generations, pgrecall.embedding_dimension, pgrecall.stored_setting
    TO pgrecall_embedder;

-- What the gate does for them, on rows that the policies let it see.
GRANT SELECT ON ALL TABLES IN SCHEMA pgrecall TO pgrecall_gate;
GRANT INSERT, UPDATE ON pgrecall.memories TO pgrecall_gate;
GRANT INSERT (name, language), UPDATE (languages) ON pgrecall.namespaces TO pgrecall_gate;
GRANT INSERT, UPDATE, DELETE ON
    pgrecall.concept_aliases, pgrecall.concept_merges, pgrecall.concepts, pgrecall.curation_jobs, pgrecall.curations,
    pgrecall.embedding_failures, pgrecall.embedding_jobs, pgrecall.extractions, pgrecall.judged_queries,
    pgrecall.judged_vectors, pgrecall.judgements, pgrecall.llm_answers, pgrecall.locks, pgrecall.llm_usage, pgrecall.mentions,
    pgrecall.query_embeddings, pgrecall.query_expansions, pgrecall.relation_labels, pgrecall.relationship_evidence,
    pgrecall.relationships, pgrecall.temporal_refs, pgrecall.truncated_embeddings, pgrecall.workers
    TO pgrecall_gate;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA pgrecall TO pgrecall_gate;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA pgrecall TO pgrecall_gate;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pgrecall TO pgrecall_engine, pgrecall_admin;
GRANT TRUNCATE ON pgrecall.lexicon, pgrecall.postings, pgrecall.unposted TO pgrecall_engine;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA pgrecall TO pgrecall_engine, pgrecall_admin;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA pgrecall TO pgrecall_engine, pgrecall_admin;
GRANT EXECUTE ON FUNCTION
    public.erase, public.erase_namespace, public.forget, public.graph_ppr, public.parse_timeframe, public.recall, public.recall_briefing, public.recall_embed,
    public.recall_explain, public.recall_facts, public.recall_status, public.recall_timeline, public.remember,
    public.remember_many, public.revise, public.supersede, public.undo_curation
    TO pgrecall_gate, pgrecall_engine;
