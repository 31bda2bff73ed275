-- Who may do what. Installed last; nothing is left to PUBLIC.
--
-- pgrecall_reader    recalls, and measures how well
-- pgrecall_writer    and remembers, revises, supersedes, forgets, judges
-- pgrecall_embedder  claims pending memories and writes embeddings back: of a memory it can change nothing else,
--                    and it sees no sensitive one, and no judged query (policies.sql)
-- pgrecall_admin     every function, and every row of every table; owns nothing
REVOKE ALL ON SCHEMA pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON ALL TABLES IN SCHEMA pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON ALL ROUTINES IN SCHEMA pgrecall FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;
REVOKE ALL ON FUNCTION
    public.recall, public.recall_explain, public.recall_briefing, public.recall_timeline, public.parse_timeframe, public.recall_status, public.remember,
    public.remember_many, public.revise, public.supersede, public.forget
    FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder, pgrecall_admin;

GRANT USAGE ON SCHEMA pgrecall TO pgrecall_reader, pgrecall_embedder;

GRANT SELECT ON
    pgrecall.memories, pgrecall.namespaces, pgrecall.concepts, pgrecall.concept_aliases, pgrecall.mentions,
    pgrecall.relationships, pgrecall.relationship_evidence, pgrecall.settings, pgrecall.setting_definitions,
    pgrecall.settings_in_force, pgrecall.settings_reference, pgrecall.profiles, pgrecall.profile_definitions, pgrecall.embedding_models, pgrecall.embedding_jobs, pgrecall.workers,
    pgrecall.installation, pgrecall.alembic_version, pgrecall.judged_queries, pgrecall.judgements,
    pgrecall.postings, pgrecall.lexicon, pgrecall.unposted, pgrecall.temporal_refs
    TO pgrecall_reader;
GRANT EXECUTE ON FUNCTION
    public.recall, public.recall_explain, public.recall_briefing, public.recall_timeline, public.parse_timeframe, public.recall_status,
    pgrecall.eight_digits, pgrecall.score_arithmetic, pgrecall.filtered_by, pgrecall.not_found, pgrecall.not_among_best,
    pgrecall.briefing_item, pgrecall.query_facts, pgrecall.one_line, pgrecall.shortened,
    pgrecall.escaped, pgrecall.combining_marks, pgrecall.recall_plan, pgrecall.check_query, pgrecall.query_languages,
    pgrecall.query_mass,
    pgrecall.query_terms, pgrecall.phrase_words, pgrecall.websearch_words, pgrecall.prefix_words,
    pgrecall.query_words, pgrecall.term_query, pgrecall.any_term, pgrecall.blocks_to_read, pgrecall.postings_budget, pgrecall.impact_settings,
    pgrecall.impacts, pgrecall.field_weight, pgrecall.bm25_parts, pgrecall.bm25_postings, pgrecall.bm25_scan, pgrecall.bm25_leg, pgrecall.ts_rank_leg, pgrecall.statement_of,
    pgrecall.question, pgrecall.lexical_query, pgrecall.strategy_settings, pgrecall.is_exact_query, pgrecall.rank_memories,
    pgrecall.rank_distinct, pgrecall.scored_memories, pgrecall.ts_rank_score, pgrecall.leg_part,
    pgrecall.leg_depth, pgrecall.top_score, pgrecall.noisy_or, pgrecall.decay, pgrecall.evergreen_floors, pgrecall.graph_step, pgrecall.graph_walk,
    pgrecall.session_neighbours, pgrecall.named_concepts, pgrecall.diverse, pgrecall.twin, pgrecall.more_alike,
    pgrecall.word_overlap, pgrecall.resolved_settings, pgrecall.check_settings, pgrecall.accepted,
    pgrecall.hub_threshold, pgrecall.lexical_leg, pgrecall.dense_leg, pgrecall.graph_leg, pgrecall.rrf, pgrecall.matches,
    pgrecall.all_words, pgrecall.every_word, pgrecall.any_word, pgrecall.read_words, pgrecall.likeliest_language,
    pgrecall.token_words, pgrecall.words, pgrecall.odd_words,
    pgrecall.spelled, pgrecall.without_accents, pgrecall.separated, pgrecall.bigrams, pgrecall.unspaced,
    pgrecall.extra_words, pgrecall.identifier_words, pgrecall.marked_pronouns, pgrecall.reads_accents,
    pgrecall.query_concepts, pgrecall.normalise, pgrecall.namespace_id,
    pgrecall.namespace_name, pgrecall.namespace_size, pgrecall.settings_list, pgrecall.effective_settings, pgrecall.accepts,
    pgrecall.refuse_setting, pgrecall.stored_setting, pgrecall.embedding_dimension, pgrecall.active_model,
    pgrecall.bundle_hash, pgrecall.health, pgrecall.analyze, pgrecall.last_memory_id, pgrecall.judged_recall,
    pgrecall.recall_eval,
    pgrecall.time_words, pgrecall.check_zone, pgrecall.local_range, pgrecall.half_open, pgrecall.unit_length,
    pgrecall.unit_range, pgrecall.rolling_range, pgrecall.dated_range, pgrecall.recurring_range, pgrecall.weekday_range,
    pgrecall.part_of_day, pgrecall.iso_range, pgrecall.shape_range, pgrecall.phrase_range, pgrecall.month_pattern,
    pgrecall.date_pattern, pgrecall.date_hint, pgrecall.temporal_references, pgrecall.referring_memories
    TO pgrecall_reader;

GRANT INSERT, UPDATE ON pgrecall.memories, pgrecall.namespaces TO pgrecall_writer;
GRANT INSERT, UPDATE, DELETE ON
    pgrecall.concepts, pgrecall.concept_aliases, pgrecall.mentions, pgrecall.relationships, pgrecall.relationship_evidence,
    pgrecall.judged_queries, pgrecall.judgements, pgrecall.temporal_refs
    TO pgrecall_writer;
GRANT DELETE ON pgrecall.embedding_jobs TO pgrecall_writer;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA pgrecall TO pgrecall_writer;
GRANT EXECUTE ON FUNCTION
    public.remember, public.remember_many, public.revise, public.supersede, public.forget, pgrecall.create_namespace,
    pgrecall.check_namespace, pgrecall.check_language, pgrecall.check_memory, pgrecall.change_memory,
    pgrecall.copy_memory, pgrecall.refuse_unknown, pgrecall.resolve_conflict, pgrecall.is_time,
    pgrecall.said_concepts, pgrecall.settle_concepts, pgrecall.remove_orphan, pgrecall.add_mentions,
    pgrecall.remove_mentions, pgrecall.embedding_recipe, pgrecall.embedding_text, pgrecall.judge, pgrecall.unjudge,
    pgrecall.add_temporal_refs
    TO pgrecall_writer;

GRANT SELECT (id, content_hash, title, content, expanded_keywords, embedding, embedding_model_id, embedded_at, is_sensitive,
              deleted_at, created_at, updated_at)
    ON pgrecall.memories TO pgrecall_embedder;
GRANT UPDATE (embedding, embedding_model_id, embedded_at) ON pgrecall.memories TO pgrecall_embedder;
GRANT SELECT, INSERT, UPDATE, DELETE ON pgrecall.embedding_jobs, pgrecall.workers TO pgrecall_embedder;
GRANT SELECT ON pgrecall.settings, pgrecall.setting_definitions, pgrecall.embedding_models, pgrecall.installation TO pgrecall_embedder;
GRANT EXECUTE ON FUNCTION
    pgrecall.fold_postings, pgrecall.claim, pgrecall.complete, pgrecall.fail, pgrecall.release, pgrecall.heartbeat, pgrecall.retire,
    pgrecall.active_model, pgrecall.bundle_hash, pgrecall.embedding_dimension, pgrecall.embedding_recipe,
    pgrecall.embedding_text, pgrecall.stored_setting
    TO pgrecall_embedder;

GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pgrecall TO pgrecall_admin;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA pgrecall TO pgrecall_admin;
