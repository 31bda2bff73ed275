-- Who may do what. Installed last; nothing is left to PUBLIC.
--
-- pgrecall_reader    recalls, and measures how well
-- pgrecall_writer    and remembers, revises, supersedes, forgets, judges
-- pgrecall_embedder  claims pending memories and writes embeddings back: of a memory it can change nothing else but by
--                    curate_claimed(), while curation is on, and it sees no sensitive one, and no judged query (policies.sql)
-- pgrecall_admin     every function, and every row of every table; owns nothing
--
-- Whose rows: a reader or writer has those of the namespaces it was granted (grant_namespace), a member of
-- pgrecall_everywhere as well all of them. That role has no privilege of its own.
REVOKE ALL ON SCHEMA pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON ALL TABLES IN SCHEMA pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON ALL ROUTINES IN SCHEMA pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON FUNCTION
    public.forget, public.graph_ppr, public.parse_timeframe, public.recall, public.recall_briefing, public.recall_embed,
    public.recall_explain, public.recall_facts, public.recall_status, public.recall_timeline, public.remember,
    public.remember_many, public.revise, public.supersede, public.undo_curation
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;

GRANT USAGE ON SCHEMA pgrecall TO pgrecall_reader, pgrecall_embedder;

GRANT SELECT ON
    pgrecall.alembic_version, pgrecall.concept_aliases, pgrecall.concept_merges, pgrecall.concept_overview,
    pgrecall.concepts, pgrecall.curation_jobs, pgrecall.curations, pgrecall.embedding_failures, pgrecall.embedding_jobs, pgrecall.embedding_models,
    pgrecall.entity_rules, pgrecall.extractions, pgrecall.generations, pgrecall.granted, pgrecall.graph_changes, pgrecall.grants, pgrecall.installation,
    pgrecall.judged_queries,
    pgrecall.judged_vectors, pgrecall.judgements, pgrecall.lexicon, pgrecall.llm_usage, pgrecall.memories,
    pgrecall.mentions, pgrecall.namespaces, pgrecall.postings, pgrecall.profile_definitions, pgrecall.profiles,
    pgrecall.relation_labels, pgrecall.relationship_evidence, pgrecall.relationships, pgrecall.setting_definitions,
    pgrecall.settings, pgrecall.settings_in_force, pgrecall.settings_reference, pgrecall.temporal_refs,
    pgrecall.truncated_embeddings, pgrecall.unposted, pgrecall.workers
    TO pgrecall_reader;
GRANT EXECUTE ON FUNCTION
    public.graph_ppr, public.parse_timeframe, public.recall, public.recall_briefing, public.recall_embed,
    public.recall_explain, public.recall_facts, public.recall_status, public.recall_timeline, pgrecall.accepted, pgrecall.accepts, pgrecall.active_generation,
    pgrecall.active_model, pgrecall.added_score, pgrecall.added_words, pgrecall.age_at, pgrecall.alias_terms, pgrecall.alike_concepts,
    pgrecall.alike_names, pgrecall.all_words, pgrecall.analyze, pgrecall.answered_embedding, pgrecall.any_term, pgrecall.any_word,
    pgrecall.ask_embedding, pgrecall.ask_expansion,
    pgrecall.awaited_embedding,
    pgrecall.bigrams, pgrecall.blocks_to_read, pgrecall.bm25_leg, pgrecall.bm25_parts, pgrecall.bm25_postings,
    pgrecall.bm25_scan, pgrecall.briefing_item, pgrecall.bundle_hash, pgrecall.canonical_label, pgrecall.change_signs,
    pgrecall.check_query, pgrecall.check_settings, pgrecall.check_zone, pgrecall.combining_marks, pgrecall.compare_texts,
    pgrecall.concept_memories, pgrecall.concept_neighbours, pgrecall.copy_digests, pgrecall.copy_memories,
    pgrecall.copy_source, pgrecall.copy_versions, pgrecall.curation_candidates, pgrecall.curation_evidence,
    pgrecall.curation_fields, pgrecall.curation_log, pgrecall.curation_question, pgrecall.date_hint, pgrecall.date_pattern,
    pgrecall.dated_range, pgrecall.decay, pgrecall.decide_curation, pgrecall.dense_leg, pgrecall.diverse, pgrecall.drawn,
    pgrecall.duplicates, pgrecall.effective_settings, pgrecall.eight_digits,
    pgrecall.embedding_dimension, pgrecall.embedding_of, pgrecall.english_timeframe, pgrecall.escaped, pgrecall.evergreen_floors,
    pgrecall.every_word, pgrecall.expanded_question, pgrecall.expansion_key, pgrecall.expansion_language,
    pgrecall.export_memories,
    pgrecall.extra_words, pgrecall.failures, pgrecall.field_weight, pgrecall.filtered_by,
    pgrecall.find_concept, pgrecall.generation_progress, pgrecall.generation_statements, pgrecall.grant_status,
    pgrecall.granted_namespaces, pgrecall.graph_export,
    pgrecall.graph_leg, pgrecall.graph_step, pgrecall.graph_walk, pgrecall.half_open, pgrecall.health, pgrecall.held_roles,
    pgrecall.holds, pgrecall.holds_memory, pgrecall.holds_relationship,
    pgrecall.identifier_words, pgrecall.impact_settings, pgrecall.impacts, pgrecall.implied_concepts, pgrecall.index_status,
    pgrecall.is_committed, pgrecall.is_exact_name, pgrecall.is_exact_query, pgrecall.is_expandable, pgrecall.is_misspelt,
    pgrecall.is_split_apart, pgrecall.iso_range, pgrecall.judge_evidence, pgrecall.judged_recall, pgrecall.keep_expansion,
    pgrecall.known_embedding, pgrecall.known_expansion, pgrecall.known_labels, pgrecall.known_namespace,
    pgrecall.last_memory_id, pgrecall.leg_depth,
    pgrecall.leg_part, pgrecall.lexical_leg, pgrecall.lexical_query, pgrecall.likeliest_language, pgrecall.likeness,
    pgrecall.link_share, pgrecall.local_range, pgrecall.marked_pronouns, pgrecall.matches, pgrecall.may_write,
    pgrecall.memory_validity, pgrecall.memory_version, pgrecall.month_pattern,
    pgrecall.name_embedding_of, pgrecall.named_concepts, pgrecall.named_memories, pgrecall.namespace_id,
    pgrecall.namespace_name, pgrecall.namespace_size, pgrecall.nearest_concepts, pgrecall.noisy_or,
    pgrecall.normalise, pgrecall.not_among_best, pgrecall.not_found, pgrecall.odd_words, pgrecall.one_line,
    pgrecall.part_of_day, pgrecall.phrase_range, pgrecall.phrase_words, pgrecall.plain_name, pgrecall.plain_text, pgrecall.postings_budget,
    pgrecall.prefix_words, pgrecall.preview_curation, pgrecall.query_concepts, pgrecall.query_facts, pgrecall.query_generation,
    pgrecall.query_languages, pgrecall.query_mass, pgrecall.query_terms, pgrecall.query_words, pgrecall.question,
    pgrecall.rank_distinct, pgrecall.rank_granted, pgrecall.rank_memories, pgrecall.ranked_memories, pgrecall.read_words, pgrecall.reads_accents, pgrecall.recall_eval,
    pgrecall.recall_plan, pgrecall.recurring_range, pgrecall.referring_memories, pgrecall.refuse_setting,
    pgrecall.related_concepts, pgrecall.resolved_settings, pgrecall.rolling_range, pgrecall.rrf, pgrecall.same_name,
    pgrecall.score_arithmetic, pgrecall.scored_memories, pgrecall.sees_all, pgrecall.separated,
    pgrecall.session_neighbours, pgrecall.session_role,
    pgrecall.settings_list, pgrecall.shape_range, pgrecall.shortened, pgrecall.spelled, pgrecall.stated_label,
    pgrecall.statement_of, pgrecall.store_expansion, pgrecall.stored_setting, pgrecall.strategy_settings, pgrecall.telling_stems,
    pgrecall.telling_words, pgrecall.temporal_references, pgrecall.term_query, pgrecall.text_words, pgrecall.time_words,
    pgrecall.token_words, pgrecall.top_score, pgrecall.trigram_similarity, pgrecall.trigrams,
    pgrecall.ts_rank_leg, pgrecall.ts_rank_score, pgrecall.twin, pgrecall.uncurated,
    pgrecall.unit_length, pgrecall.unit_range, pgrecall.unknown_labels, pgrecall.unspaced, pgrecall.websearch_words,
    pgrecall.weekday_range, pgrecall.widened_query, pgrecall.without_accents, pgrecall.words, pgrecall.worker_status
    TO pgrecall_reader;

GRANT INSERT, UPDATE ON pgrecall.memories TO pgrecall_writer;
GRANT INSERT (name, language), UPDATE (languages) ON pgrecall.namespaces TO pgrecall_writer;
GRANT INSERT, UPDATE, DELETE ON
    pgrecall.concept_aliases, pgrecall.concept_merges, pgrecall.concepts, pgrecall.extractions,
    pgrecall.judged_queries, pgrecall.judged_vectors, pgrecall.judgements, pgrecall.mentions,
    pgrecall.relation_labels, pgrecall.relationship_evidence, pgrecall.relationships, pgrecall.temporal_refs
    TO pgrecall_writer;
GRANT SELECT, DELETE ON pgrecall.llm_answers TO pgrecall_writer;
GRANT INSERT, UPDATE (evidence, undone_at) ON pgrecall.curations TO pgrecall_writer;
GRANT DELETE ON
    pgrecall.curation_jobs, pgrecall.curations, pgrecall.embedding_failures, pgrecall.embedding_jobs, pgrecall.truncated_embeddings
    TO pgrecall_writer;
-- To draw an id, and so that policies can tell ids that were given out from those to come. Not numbers of generations.
GRANT USAGE ON SEQUENCE
    pgrecall.concept_merges_id_seq, pgrecall.concepts_id_seq, pgrecall.curations_id_seq, pgrecall.memories_id_seq,
    pgrecall.relationship_evidence_id_seq, pgrecall.relationships_id_seq
    TO pgrecall_writer;
GRANT EXECUTE ON FUNCTION
    pgrecall.add_alias, pgrecall.add_temporal_refs, pgrecall.adopt_memories, pgrecall.adopted_memories,
    pgrecall.apply_curation, pgrecall.change_memory, pgrecall.check_adopted, pgrecall.check_language, pgrecall.check_line,
    pgrecall.check_memory, pgrecall.check_namespace, pgrecall.complete, pgrecall.concept_namespace, pgrecall.copy_memory,
    pgrecall.create_namespace, pgrecall.curate, public.forget, public.remember, public.remember_many, public.revise,
    public.supersede, public.undo_curation,
    pgrecall.embedding_recipe, pgrecall.embedding_text, pgrecall.import_memories, pgrecall.imported_memory,
    pgrecall.insert_memories, pgrecall.is_time, pgrecall.is_used, pgrecall.is_version, pgrecall.judge, pgrecall.keep_version,
    pgrecall.link_memories, pgrecall.push_write, pgrecall.version_fields,
    pgrecall.lock_facts, pgrecall.merge_concepts, pgrecall.own_names, pgrecall.refuse_unknown, pgrecall.remove_alias,
    pgrecall.refuse_reader, pgrecall.remove_evidence, pgrecall.remove_labels, pgrecall.remove_mentions,
    pgrecall.remove_orphan, pgrecall.resolve_conflict, pgrecall.retry_failures, pgrecall.said_concepts, pgrecall.said_names,
    pgrecall.set_relation_label, pgrecall.settle_concept, pgrecall.settle_facts, pgrecall.settle_label,
    pgrecall.settle_names, pgrecall.settle_type, pgrecall.share_names, pgrecall.split_concept, pgrecall.take_turns, pgrecall.unjudge
    TO pgrecall_writer;

GRANT SELECT (id, namespace_id, content_hash, title, content, expanded_keywords, speaker, language, is_sensitive,
              deleted_at, occurred_at, created_at, updated_at)
    ON pgrecall.memories TO pgrecall_embedder;
SELECT pgrecall.grant_generations();
GRANT SELECT, INSERT, UPDATE, DELETE ON
    pgrecall.concept_aliases, pgrecall.concept_merges, pgrecall.concepts, pgrecall.llm_answers, pgrecall.llm_usage, pgrecall.mentions,
    pgrecall.relation_labels, pgrecall.relationship_evidence,
    pgrecall.relationships, pgrecall.temporal_refs, pgrecall.workers
    TO pgrecall_embedder;
GRANT SELECT ON
    pgrecall.embedding_models, pgrecall.entity_rules, pgrecall.generations, pgrecall.installation,
    pgrecall.namespaces, pgrecall.profiles, pgrecall.setting_definitions, pgrecall.settings
    TO pgrecall_embedder;
GRANT EXECUTE ON FUNCTION
    pgrecall.active_generation, pgrecall.active_model, pgrecall.add_facts, pgrecall.add_read_mentions,
    pgrecall.add_read_times, pgrecall.alike_concepts, pgrecall.alike_names, pgrecall.answer_queries,
    pgrecall.bundle_hash, pgrecall.cached_answers, pgrecall.canonical_label, pgrecall.check_read, pgrecall.claim,
    pgrecall.claim_curations, pgrecall.claim_extractions, pgrecall.claim_queries, pgrecall.complete_claimed, pgrecall.complete_extractions,
    pgrecall.concept_namespace, pgrecall.curate_claimed, pgrecall.curation_candidates,
    pgrecall.curation_question, pgrecall.embed_concepts, pgrecall.embedded_generations, pgrecall.embedding_dimension,
    pgrecall.embedding_of, pgrecall.embedding_recipe, pgrecall.embedding_text, pgrecall.extraction_setup,
    pgrecall.fail, pgrecall.fail_extraction, pgrecall.fold_postings, pgrecall.generation_statements,
    pgrecall.heartbeat, pgrecall.is_exact_name, pgrecall.is_misspelt, pgrecall.is_split_apart, pgrecall.is_time,
    pgrecall.is_used, pgrecall.keep_answers, pgrecall.known_labels, pgrecall.lock_facts, pgrecall.merge_alike,
    pgrecall.merge_concepts, pgrecall.name_embedding_of, pgrecall.nearest_concepts, pgrecall.normalise,
    pgrecall.own_names, pgrecall.plain_name, pgrecall.read_names, pgrecall.record_llm_usage, pgrecall.release,
    pgrecall.release_curations,
    pgrecall.release_extractions, pgrecall.remove_evidence, pgrecall.remove_orphan, pgrecall.resolve_concepts,
    pgrecall.retire, pgrecall.same_name, pgrecall.set_relation_label, pgrecall.settle_concept, pgrecall.settle_facts,
    pgrecall.settle_label, pgrecall.settle_names, pgrecall.settle_type, pgrecall.share_names, pgrecall.stated_label,
    pgrecall.stored_setting, pgrecall.telling_words, pgrecall.trigram_similarity, pgrecall.trigrams,
    pgrecall.trim_queries, pgrecall.unembedded_concepts, pgrecall.unknown_labels, pgrecall.waiting,
    pgrecall.without_accents
    TO pgrecall_embedder;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pgrecall TO pgrecall_admin;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA pgrecall TO pgrecall_admin;
