-- The tables of 0.1.0. Nothing here depends on a function of sql/.
--
-- 0001_baseline.py fills in {dimension}, {toast_tuple_target} and {storage}, and replaces the schema name pgvector by the
-- schema where the extension is installed.

CREATE TYPE pgrecall.memory_fields AS (
    content           text,
    title             text,
    category          text,
    tags              text[],
    expanded_keywords text[],
    importance        real,
    metadata          jsonb,
    source            text,
    session           text,
    speaker           text,
    "position"        integer,
    language          text,
    is_sensitive      boolean,
    occurred_at       timestamptz,
    created_at        timestamptz,
    valid_from        timestamptz,
    valid_to          timestamptz,
    external_id       text
);
COMMENT ON TYPE pgrecall.memory_fields IS 'The optional fields of a memory: the options of remember().';
CREATE TYPE pgrecall.recall_filter AS (
    categories         text[],
    tags_any           text[],
    tags_all           text[],
    metadata_contains  jsonb,
    since              timestamptz,
    until              timestamptz,
    include_superseded boolean,
    timeframe          tstzrange,
    as_of              timestamptz,
    include_sensitive  boolean,
    referring          bigint[]
);
COMMENT ON TYPE pgrecall.recall_filter IS 'The filters of one recall; a NULL field does not filter.';
CREATE TYPE pgrecall.recall_settings AS (
    rrf_k                double precision,
    lexical_weight       double precision,
    dense_weight         double precision,
    graph_weight         double precision,
    leg_depth            integer,
    lexical_min_rank     double precision,
    dense_exact_rows     integer,
    graph_seeds          integer,
    graph_hops           integer,
    graph_decay          double precision,
    hub_max_mentions     integer,
    lexical_mode         text,
    bm25_max_postings    integer,
    bm25_max_terms       integer,
    phrase_bonus         double precision,
    k                    integer,
    strategy             text,
    fusion               text,
    sort_by              text,
    cc_alpha             double precision,
    lexical_coverage     double precision,
    session_share        double precision,
    session_seeds        integer,
    lexical_pool         double precision,
    dense_pool           double precision,
    graph_pool           double precision,
    prefilter_depth      integer,
    lexical_lookback     interval,
    ts_rank_importance   double precision,
    factor_relevance     double precision,
    factor_importance    double precision,
    factor_recency       double precision,
    recency_half_life    interval,
    importance_weight    double precision,
    half_life            interval,
    decay_floor          double precision,
    decay_floors         text,
    entity_boost         double precision,
    min_similarity       double precision,
    min_score            double precision,
    mmr_lambda           double precision,
    mmr_pool             integer,
    mmr_similarity       text,
    collapse_duplicates  boolean,
    duplicate_similarity double precision,
    bm25_k1              double precision,
    bm25_b               double precision,
    bm25_length_pivot    double precision,
    field_weight_a       double precision,
    field_weight_b       double precision,
    field_weight_c       double precision,
    field_weight_d       double precision,
    graph_mention        double precision,
    graph_concepts       integer,
    query_model          text,
    generation           integer,
    expand               text,
    expansion_weight     double precision,
    dense_deviations     double precision,
    passage_penalty      double precision,
    other_speaker_factor double precision
);
COMMENT ON TYPE pgrecall.recall_settings IS 'The resolved settings of one recall; pgrecall.setting_definitions describes them.';
CREATE TYPE pgrecall.bm25_parameters AS (
    bm25_k1           double precision,
    bm25_b            double precision,
    bm25_length_pivot double precision,
    field_weight_a    double precision,
    field_weight_b    double precision,
    field_weight_c    double precision,
    field_weight_d    double precision
);
COMMENT ON TYPE pgrecall.bm25_parameters IS 'The settings that determine impacts; pgrecall.setting_definitions describes them.';
CREATE TYPE pgrecall.parsed_query AS (
    mode             text,
    words            text[],
    idfs             double precision[],
    any_word         tsquery,
    common           tsquery[],
    required         tsquery,
    narrow           tsquery,
    broad            tsquery,
    phrase           tsquery,
    max_bm25         double precision,
    budget           integer,
    min_rank         double precision,
    importance_share double precision,
    impacts          pgrecall.bm25_parameters,
    added            text[],
    added_idfs       double precision[]
);
COMMENT ON TYPE pgrecall.parsed_query IS 'A query parsed for the lexical leg: words and idfs for BM25, tsqueries for the other modes. See _pgrecall.parse_query().';
CREATE TYPE pgrecall.ranked AS (
    id                bigint,
    place             integer,
    score             double precision,
    lexical_rank      integer,
    dense_rank        integer,
    graph_rank        integer,
    lexical_score     double precision,
    similarity        double precision,
    graph_score       double precision,
    lexical_part      double precision,
    dense_part        double precision,
    graph_part        double precision,
    session_part      double precision,
    phrase_part       double precision,
    relevance         double precision,
    recency           double precision,
    combined          double precision,
    importance_factor double precision,
    decay_factor      double precision,
    entity_factor     double precision,
    speaker_factor    double precision,
    passage           int4range,
    is_candidate      boolean,
    mmr_penalty       double precision,
    duplicates        bigint[],
    candidate_rank    integer,
    lexical_weight    double precision,
    dense_weight      double precision,
    graph_weight      double precision,
    graph_share       double precision,
    graph_level       double precision
);
COMMENT ON TYPE pgrecall.ranked IS 'A memory ranked by recall: its score on every leg, and every part of its final score.';
CREATE TYPE pgrecall.recall_request AS (
    namespace_id integer,
    parsed       pgrecall.parsed_query,
    query_vec    pgvector.halfvec,
    concepts     bigint[],
    settings     pgrecall.recall_settings,
    implied      bigint[],
    expansion    text[],
    query_name   text
);
COMMENT ON TYPE pgrecall.recall_request IS 'A resolved and validated request for recall: see _pgrecall.resolve_request().';
CREATE TYPE pgrecall.naming AS (
    namespace_id integer,
    alias        text,
    name         text
);
COMMENT ON TYPE pgrecall.naming IS 'A name in a namespace: normalised, and as written.';
CREATE TYPE pgrecall.fact_statement AS (
    place           integer,
    id              bigint,
    relationship_id bigint,
    memory_id       bigint,
    target_id       bigint,
    source_alias    text,
    target_alias    text,
    begins          timestamptz,
    valid_from      timestamptz,
    valid_to        timestamptz,
    recorded_at     timestamptz,
    is_exclusive    boolean,
    confidence      real
);
COMMENT ON TYPE pgrecall.fact_statement IS 'A row of evidence for _pgrecall.rebuild_validity(); place is its position in time.';

CREATE TABLE pgrecall.installation (
    singleton         boolean NOT NULL DEFAULT true,
    bundle_hash       text,
    package_version   text,
    public_functions  text[] NOT NULL DEFAULT '{}',
    database_settings text[] NOT NULL DEFAULT '{}',
    created_extension boolean NOT NULL DEFAULT false,
    vector_schema     text,
    installed_at      timestamptz NOT NULL DEFAULT now(),
    has_plpython      boolean NOT NULL DEFAULT false,
    CONSTRAINT installation_pkey PRIMARY KEY (singleton),
    CONSTRAINT installation_singleton_check CHECK (singleton)
);
COMMENT ON TABLE pgrecall.installation IS 'One row: the installed sql/ bundle, and what a downgrade to base must undo.';
COMMENT ON COLUMN pgrecall.installation.has_plpython IS 'The functions in Python are installed (pgrecall migrate --with-plpython); the next migration keeps them.';

CREATE TABLE pgrecall.settings (
    name       text NOT NULL,
    value      text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT settings_pkey PRIMARY KEY (name),
    CONSTRAINT settings_name_size CHECK (octet_length(name) <= 1024),
    CONSTRAINT settings_value_check CHECK (value <> ''),
    CONSTRAINT settings_value_size CHECK (octet_length(value) <= 65536)
);
COMMENT ON TABLE pgrecall.settings IS 'Stored settings. The session''s pgrecall.* parameters override them; they override the built-in defaults. Write with pgrecall.set_setting(), read pgrecall.settings_in_force.';

CREATE TABLE pgrecall.namespaces (
    id         integer NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    name       text NOT NULL,
    language   text NOT NULL DEFAULT 'english',
    created_at timestamptz NOT NULL DEFAULT now(),
    languages  text[] NOT NULL DEFAULT '{}',
    CONSTRAINT namespaces_pkey PRIMARY KEY (id),
    CONSTRAINT namespaces_name_key UNIQUE (name),
    CONSTRAINT namespaces_language_size CHECK (octet_length(language) <= 1024),
    CONSTRAINT namespaces_languages_size CHECK ((cardinality(languages) <= 1000) AND (octet_length(array_to_string(languages, '')) <= 65536)),
    CONSTRAINT namespaces_name_check CHECK ((name ~ '[^[:space:]]') AND (length(name) <= 200))
);
COMMENT ON TABLE pgrecall.namespaces IS 'Namespaces. Each holds the memories of one tenant; no recall crosses a namespace.';
COMMENT ON COLUMN pgrecall.namespaces.language IS 'Text-search configuration of queries, and of memories without a language. Text, because pg_upgrade rejects regconfig columns.';
COMMENT ON COLUMN pgrecall.namespaces.languages IS 'Text-search configurations of the memories, in order of first use; filled by a trigger.';
ALTER TABLE pgrecall.namespaces
    ALTER COLUMN name SET STATISTICS 0,
    ALTER COLUMN language SET STATISTICS 0;

CREATE TABLE pgrecall.embedding_models (
    id              integer NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    name            text NOT NULL,
    dimension       integer NOT NULL,
    provider        text NOT NULL DEFAULT 'sentence-transformers',
    query_prompt    text NOT NULL DEFAULT '',
    document_prompt text NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT embedding_models_pkey PRIMARY KEY (id),
    CONSTRAINT embedding_models_name_dimension_key UNIQUE (name, dimension),
    CONSTRAINT embedding_models_dimension_check CHECK ((dimension >= 1) AND (dimension <= 4000)),
    CONSTRAINT embedding_models_document_prompt_size CHECK (octet_length(document_prompt) <= 16384),
    CONSTRAINT embedding_models_name_check CHECK (name <> ''),
    CONSTRAINT embedding_models_name_size CHECK (octet_length(name) <= 1024),
    CONSTRAINT embedding_models_provider_size CHECK (octet_length(provider) <= 256),
    CONSTRAINT embedding_models_query_prompt_size CHECK (octet_length(query_prompt) <= 16384)
);
COMMENT ON TABLE pgrecall.embedding_models IS 'Embedding models by name, with the prompts that precede a query and a document.';

CREATE TABLE pgrecall.workers (
    id           uuid NOT NULL,
    hostname     text NOT NULL,
    pid          integer NOT NULL,
    model        text NOT NULL,
    bundle_hash  text NOT NULL,
    embedded     bigint NOT NULL DEFAULT 0,
    started_at   timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    per_second   real NOT NULL DEFAULT 0,
    pauses       jsonb NOT NULL DEFAULT '[]',
    generations  integer[] NOT NULL DEFAULT '{}'::integer[],
    role_name    text NOT NULL DEFAULT '',
    CONSTRAINT workers_pkey PRIMARY KEY (id),
    CONSTRAINT workers_bundle_hash_size CHECK (octet_length(bundle_hash) <= 256),
    CONSTRAINT workers_generations_size CHECK (cardinality(generations) <= 1000),
    CONSTRAINT workers_hostname_size CHECK (octet_length(hostname) <= 1024),
    CONSTRAINT workers_model_size CHECK (octet_length(model) <= 1024),
    CONSTRAINT workers_pauses_size CHECK (octet_length((pauses)::text) <= 65536),
    CONSTRAINT workers_role_name_size CHECK (octet_length(role_name) <= 256)
);
COMMENT ON TABLE pgrecall.workers IS 'Embedder daemons and their heartbeats.';
COMMENT ON COLUMN pgrecall.workers.per_second IS 'Embeddings per second since the previous heartbeat.';
COMMENT ON COLUMN pgrecall.workers.pauses IS 'Providers that it does not call at present: [{"model": …, "cause": …, "until": …}].';
COMMENT ON COLUMN pgrecall.workers.generations IS 'The generations that it embeds.';
COMMENT ON COLUMN pgrecall.workers.role_name IS 'The role that it connects as.';

CREATE TABLE pgrecall.postings (
    namespace_id integer NOT NULL,
    term         text COLLATE "C" NOT NULL,
    top_impact   real NOT NULL,
    block        bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    memory_ids   bigint[] NOT NULL,
    impacts      real[] NOT NULL,
    CONSTRAINT postings_block_pairs CHECK (cardinality(impacts) = cardinality(memory_ids)),
    CONSTRAINT postings_block_size CHECK ((cardinality(memory_ids) >= 1) AND (cardinality(memory_ids) <= 128)),
    CONSTRAINT postings_term_size CHECK (octet_length(term) <= 2048)
);
COMMENT ON TABLE pgrecall.postings IS 'The memories that hold a term, with its impact on their BM25 score, in blocks of up to 128. Written only by _pgrecall.index_postings() and _pgrecall.remove_postings(), under _pgrecall.try_lock_postings().';
COMMENT ON COLUMN pgrecall.postings.top_impact IS 'The block''s highest impact: recall reads the best blocks of a term first.';
COMMENT ON COLUMN pgrecall.postings.impacts IS 'The impact of the term on each of memory_ids, highest first.';
CREATE UNIQUE INDEX postings_term_key ON pgrecall.postings (namespace_id, term, top_impact DESC, block);
ALTER TABLE pgrecall.postings
    ALTER COLUMN memory_ids SET STORAGE PLAIN,
    ALTER COLUMN impacts SET STORAGE PLAIN,
    ALTER COLUMN term SET STATISTICS 0;

CREATE TABLE pgrecall.term_stats (
    namespace_id integer NOT NULL,
    term         text COLLATE "C" NOT NULL,
    documents    integer NOT NULL,
    small_blocks integer NOT NULL,
    CONSTRAINT term_stats_pkey PRIMARY KEY (namespace_id, term),
    CONSTRAINT term_stats_term_size CHECK (octet_length(term) <= 2048)
) WITH (fillfactor = 80);
COMMENT ON TABLE pgrecall.term_stats IS 'The number of memories in pgrecall.postings that hold each term; the term '''' counts all memories in the postings.';
COMMENT ON COLUMN pgrecall.term_stats.small_blocks IS 'Blocks of the term that are less than half full; too many of them are merged.';
ALTER TABLE pgrecall.term_stats
    ALTER COLUMN term SET STATISTICS 0;

CREATE TABLE pgrecall.pending_postings (
    memory_id      bigint NOT NULL,
    namespace_id   integer NOT NULL,
    indexed_vector tsvector,
    CONSTRAINT pending_postings_pkey PRIMARY KEY (memory_id, namespace_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
COMMENT ON TABLE pgrecall.pending_postings IS 'Memories that changed since they were indexed, or were never indexed. Recall scores them from their search_vector. They move to pgrecall.postings when a namespace has enough of them.';
COMMENT ON COLUMN pgrecall.pending_postings.indexed_vector IS 'The search_vector of the memory''s postings; NULL: none.';
CREATE INDEX pending_postings_namespace_idx ON pgrecall.pending_postings (namespace_id);
ALTER TABLE pgrecall.pending_postings
    ALTER COLUMN indexed_vector SET STATISTICS 0;

CREATE TABLE pgrecall.llm_usage (
    day               date NOT NULL DEFAULT CURRENT_DATE,
    model             text NOT NULL,
    requests          bigint NOT NULL DEFAULT 0,
    prompt_tokens     bigint NOT NULL DEFAULT 0,
    completion_tokens bigint NOT NULL DEFAULT 0,
    cost              numeric,
    CONSTRAINT llm_usage_pkey PRIMARY KEY (day, model),
    CONSTRAINT llm_usage_model_size CHECK (octet_length(model) <= 1024)
);
COMMENT ON TABLE pgrecall.llm_usage IS 'Calls of language models, one row per day and model.';
COMMENT ON COLUMN pgrecall.llm_usage.cost IS 'Computed from the embedder''s prices; NULL: unknown.';

CREATE TABLE pgrecall.granted (
    role       regrole NOT NULL,
    namespaces boolean[] NOT NULL,
    CONSTRAINT granted_pkey PRIMARY KEY (role)
);
COMMENT ON TABLE pgrecall.granted IS 'The namespaces of each role in grants, as one array that is true at their ids, for the policies. Triggers maintain it.';

CREATE TABLE pgrecall.graph_changes (
    namespace_id integer NOT NULL,
    id           bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    CONSTRAINT graph_changes_pkey PRIMARY KEY (namespace_id, id)
);
COMMENT ON TABLE pgrecall.graph_changes IS 'One row per statement that changed the mentions of a namespace, older rows combined; written only if the functions in Python are installed. The ids that a snapshot sees identify the graph that it sees.';

CREATE UNLOGGED TABLE pgrecall.query_expansions (
    role       regrole NOT NULL,
    query_hash bytea NOT NULL,
    language   text NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    terms      text[] NOT NULL,
    entities   text[] NOT NULL DEFAULT '{}',
    intent     text,
    CONSTRAINT query_expansions_pkey PRIMARY KEY (role, query_hash, language),
    CONSTRAINT query_expansions_size CHECK ((cardinality(terms) <= 5) AND (cardinality(entities) <= 5) AND (octet_length(query_hash) = 32) AND (length(array_to_string((terms || entities), '')) <= 640) AND (length(intent) <= 64) AND (length(language) <= 128)),
    CONSTRAINT query_expansions_times CHECK (isfinite(made_at))
);
COMMENT ON TABLE pgrecall.query_expansions IS 'Language models'' expansions of queries, by the query''s hash, for recall with expand = llm. Cached for a limited time, separately for each role.';
COMMENT ON COLUMN pgrecall.query_expansions.terms IS 'Words and short phrases to search for in addition to the query''s.';
COMMENT ON COLUMN pgrecall.query_expansions.entities IS 'Names of things that the query implies; their concepts take part in the graph leg.';
ALTER TABLE pgrecall.query_expansions
    ALTER COLUMN query_hash SET STATISTICS 0,
    ALTER COLUMN language SET STATISTICS 0,
    ALTER COLUMN terms SET STATISTICS 0,
    ALTER COLUMN entities SET STATISTICS 0,
    ALTER COLUMN intent SET STATISTICS 0;

CREATE TABLE pgrecall.locks (
    home integer NOT NULL,
    name text NOT NULL,
    CONSTRAINT locks_pkey PRIMARY KEY (home, name)
);
COMMENT ON TABLE pgrecall.locks IS 'Rows to lock, never changed: five for each namespace, and one for all (home 0). Tenants have no privileges on it.';
COMMENT ON COLUMN pgrecall.locks.home IS 'A namespace; 0: all namespaces.';
ALTER TABLE pgrecall.locks
    ALTER COLUMN name SET STATISTICS 0;

CREATE TABLE pgrecall.erasures (
    id           bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    namespace_id integer NOT NULL,
    memory_id    bigint,
    erased_at    timestamptz NOT NULL DEFAULT now(),
    role         text NOT NULL,
    counts       jsonb NOT NULL,
    CONSTRAINT erasures_pkey PRIMARY KEY (id)
);
COMMENT ON TABLE pgrecall.erasures IS 'Receipts of erase() and erase_namespace(): ids, counts, role and time. No content, no names of namespaces.';
COMMENT ON COLUMN pgrecall.erasures.memory_id IS 'NULL: the whole namespace.';
COMMENT ON COLUMN pgrecall.erasures.role IS 'The role that erased, by its name at that time.';
COMMENT ON COLUMN pgrecall.erasures.counts IS 'How many rows of each table were deleted.';
ALTER TABLE pgrecall.erasures
    ALTER COLUMN role SET STATISTICS 0,
    ALTER COLUMN counts SET STATISTICS 0;

CREATE TABLE pgrecall.memories (
    id                bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    namespace_id      integer NOT NULL,
    "position"        integer,
    importance        real NOT NULL DEFAULT 0.5,
    is_sensitive      boolean NOT NULL DEFAULT false,
    occurred_at       timestamptz,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    valid_from        timestamptz,
    valid_to          timestamptz,
    deleted_at        timestamptz,
    superseded_by     bigint,
    external_id       text,
    title             text,
    content           text NOT NULL,
    category          text,
    tags              text[] NOT NULL DEFAULT '{}',
    expanded_keywords text[] NOT NULL DEFAULT '{}',
    metadata          jsonb NOT NULL DEFAULT '{}',
    source            text,
    session           text,
    speaker           text,
    language          text NOT NULL,
    content_hash      bytea NOT NULL,
    search_vector     tsvector NOT NULL,
    embedding         pgvector.halfvec({dimension}),
    superseded_at     timestamptz,
    word_count        integer,
    CONSTRAINT memories_pkey PRIMARY KEY (id),
    CONSTRAINT memories_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id),
    CONSTRAINT memories_superseded_by_fkey FOREIGN KEY (superseded_by) REFERENCES pgrecall.memories(id),
    CONSTRAINT memories_category_size CHECK (octet_length(category) <= 1024),
    CONSTRAINT memories_content_hash_size CHECK (octet_length(content_hash) <= 64),
    CONSTRAINT memories_content_not_blank CHECK (content ~ '[^[:space:]]'),
    CONSTRAINT memories_content_size CHECK (octet_length(content) <= 262144),
    CONSTRAINT memories_expanded_keywords_size CHECK ((cardinality(expanded_keywords) <= 256) AND (octet_length(array_to_string(expanded_keywords, '')) <= 12288)),
    CONSTRAINT memories_external_id_size CHECK (octet_length(external_id) <= 1024),
    CONSTRAINT memories_importance_range CHECK ((importance >= (0)::double precision) AND (importance <= (1)::double precision)),
    CONSTRAINT memories_language_size CHECK (octet_length(language) <= 1024),
    CONSTRAINT memories_metadata_object CHECK (jsonb_typeof(metadata) = 'object'),
    CONSTRAINT memories_metadata_size CHECK (octet_length((metadata)::text) <= 262144),
    CONSTRAINT memories_not_own_successor CHECK (superseded_by <> id),
    CONSTRAINT memories_sensitive_not_embedded CHECK ((NOT is_sensitive) OR (embedding IS NULL)),
    CONSTRAINT memories_session_size CHECK (octet_length(session) <= 1024),
    CONSTRAINT memories_source_size CHECK (octet_length(source) <= 1024),
    CONSTRAINT memories_speaker_size CHECK (octet_length(speaker) <= 1024),
    CONSTRAINT memories_tags_size CHECK ((cardinality(tags) <= 256) AND (octet_length(array_to_string(tags, '')) <= 12288)),
    CONSTRAINT memories_title_size CHECK (octet_length(title) <= 4096),
    CONSTRAINT memories_validity_order CHECK (valid_to >= valid_from)
) WITH (toast_tuple_target = {toast_tuple_target});
COMMENT ON TABLE pgrecall.memories IS 'The memories. Not a public interface: write with remember(), update_memory(), supersede(), forget(), read with recall().';
COMMENT ON COLUMN pgrecall.memories."position" IS 'Order within the session.';
COMMENT ON COLUMN pgrecall.memories.is_sensitive IS 'Never embedded, never extracted, never leaves the database; only its words find it.';
COMMENT ON COLUMN pgrecall.memories.occurred_at IS 'When it happened; NULL: created_at is used.';
COMMENT ON COLUMN pgrecall.memories.deleted_at IS 'Tombstone of forget(): the row is kept and never recalled.';
COMMENT ON COLUMN pgrecall.memories.superseded_by IS 'The memory that replaced this one; recall omits superseded memories by default.';
COMMENT ON COLUMN pgrecall.memories.external_id IS 'The caller''s own id, unique within the namespace.';
COMMENT ON COLUMN pgrecall.memories.language IS 'Name of the text-search configuration; text, because pg_upgrade rejects regconfig columns.';
COMMENT ON COLUMN pgrecall.memories.content_hash IS 'SHA-256 of the embedded text and its recipe; filled by a trigger.';
COMMENT ON COLUMN pgrecall.memories.search_vector IS 'Lexemes by field: A title and content, B expanded_keywords, C tags, D category; filled by a trigger, because array_to_string is not immutable.';
COMMENT ON COLUMN pgrecall.memories.embedding IS 'Embedding of generation 1: NULL until an embedder fills it, and again when the embedded text changes.';
COMMENT ON COLUMN pgrecall.memories.superseded_at IS 'When the supersession was recorded; valid_to is when the memory stopped being valid. NULL with a superseded_by: before any time that as_of can name.';
COMMENT ON COLUMN pgrecall.memories.word_count IS 'Number of words in search_vector, counting every occurrence: the document length for BM25; filled by a trigger. NULL: not counted.';
CREATE INDEX memories_embedding_idx ON pgrecall.memories USING hnsw (embedding pgvector.halfvec_cosine_ops) WITH (m='16', ef_construction='64') WHERE (deleted_at IS NULL);
CREATE INDEX memories_namespace_time_idx ON pgrecall.memories (namespace_id, COALESCE(occurred_at, created_at));
CREATE INDEX memories_pending_idx ON pgrecall.memories (updated_at DESC, id DESC) WHERE ((embedding IS NULL) AND (NOT is_sensitive) AND (deleted_at IS NULL));
CREATE INDEX memories_pending_namespace_idx ON pgrecall.memories (namespace_id, updated_at DESC, id DESC) WHERE ((embedding IS NULL) AND (NOT is_sensitive) AND (deleted_at IS NULL));
CREATE INDEX memories_search_vector_idx ON pgrecall.memories USING gin (search_vector);
CREATE INDEX memories_session_idx ON pgrecall.memories (namespace_id, session, "position", id) WHERE ((session IS NOT NULL) AND ("position" IS NOT NULL));
CREATE INDEX memories_superseded_by_idx ON pgrecall.memories (superseded_by) WHERE (superseded_by IS NOT NULL);
CREATE INDEX memories_tags_idx ON pgrecall.memories USING gin (tags);
CREATE UNIQUE INDEX memories_external_id_key ON pgrecall.memories (namespace_id, external_id) WHERE (external_id IS NOT NULL);
ALTER TABLE pgrecall.memories
    ALTER COLUMN embedding SET STORAGE {storage},
    ALTER COLUMN external_id SET STATISTICS 0,
    ALTER COLUMN title SET STATISTICS 0,
    ALTER COLUMN content SET STATISTICS 0,
    ALTER COLUMN category SET STATISTICS 0,
    ALTER COLUMN source SET STATISTICS 0,
    ALTER COLUMN session SET STATISTICS 0,
    ALTER COLUMN speaker SET STATISTICS 0,
    ALTER COLUMN language SET STATISTICS 0,
    ALTER COLUMN content_hash SET STATISTICS 0;

CREATE TABLE pgrecall.concepts (
    id              bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    namespace_id    integer NOT NULL,
    type            text NOT NULL DEFAULT 'CONCEPT',
    name            text NOT NULL,
    key             text COLLATE "C" NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    type_confidence real NOT NULL DEFAULT 0,
    resolved_at     timestamptz,
    embedding       pgvector.halfvec({dimension}),
    CONSTRAINT concepts_pkey PRIMARY KEY (id),
    CONSTRAINT concepts_namespace_id_id_key UNIQUE (namespace_id, id),
    CONSTRAINT concepts_namespace_id_key_key UNIQUE (namespace_id, key),
    CONSTRAINT concepts_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id),
    CONSTRAINT concepts_key_check CHECK (key <> ''),
    CONSTRAINT concepts_key_size CHECK (octet_length(key) <= 16384),
    CONSTRAINT concepts_name_size CHECK (octet_length(name) <= 16384),
    CONSTRAINT concepts_type_confidence_check CHECK ((type_confidence >= (0)::double precision) AND (type_confidence <= (1)::double precision)),
    CONSTRAINT concepts_type_size CHECK (octet_length(type) <= 256)
);
COMMENT ON TABLE pgrecall.concepts IS 'Entities and ideas that recur across memories: the nodes of the concept graph.';
COMMENT ON COLUMN pgrecall.concepts.type IS 'PERSON, ORG, PLACE, PROJECT, TECHNOLOGY, FILE, CONCEPT, or a custom type of the namespace.';
COMMENT ON COLUMN pgrecall.concepts.name IS 'Canonical name, as first written.';
COMMENT ON COLUMN pgrecall.concepts.key IS 'The normalised name (pgrecall.normalize_name), one of its aliases.';
COMMENT ON COLUMN pgrecall.concepts.type_confidence IS 'The highest confidence of a mention with this type.';
COMMENT ON COLUMN pgrecall.concepts.resolved_at IS 'When it was compared with its neighbours; NULL: not yet.';
COMMENT ON COLUMN pgrecall.concepts.embedding IS 'Embedding of the name in generation 1; NULL until an embedder fills it.';
CREATE INDEX concepts_embedding_idx ON pgrecall.concepts USING hnsw (embedding pgvector.halfvec_cosine_ops);
CREATE INDEX concepts_unembedded_idx ON pgrecall.concepts (id) WHERE (embedding IS NULL);
CREATE INDEX concepts_unresolved_idx ON pgrecall.concepts (id) WHERE (resolved_at IS NULL);
ALTER TABLE pgrecall.concepts
    ALTER COLUMN embedding SET STORAGE {storage},
    ALTER COLUMN type SET STATISTICS 0,
    ALTER COLUMN name SET STATISTICS 0,
    ALTER COLUMN key SET STATISTICS 0;

CREATE TABLE pgrecall.judged_queries (
    namespace_id integer NOT NULL,
    query_id     text NOT NULL,
    query        text NOT NULL,
    stratum      text NOT NULL,
    exclude      bigint[] NOT NULL DEFAULT '{}'::bigint[],
    CONSTRAINT judged_queries_pkey PRIMARY KEY (namespace_id, query_id),
    CONSTRAINT judged_queries_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id) ON DELETE CASCADE,
    CONSTRAINT judged_queries_exclude CHECK (array_position(exclude, NULL::bigint) IS NULL),
    CONSTRAINT judged_queries_exclude_size CHECK (cardinality(exclude) <= 10000),
    CONSTRAINT judged_queries_id_length CHECK ((length(query_id) >= 1) AND (length(query_id) <= 200)),
    CONSTRAINT judged_queries_query_size CHECK (octet_length(query) <= 65536),
    CONSTRAINT judged_queries_stratum CHECK (((length(stratum) >= 1) AND (length(stratum) <= 200)) AND (stratum <> 'overall'))
);
COMMENT ON TABLE pgrecall.judged_queries IS 'Queries with known right answers, for pgrecall.recall_eval(). Written by pgrecall.judge(). They are users'' own words: treat them as private, like memories.';
COMMENT ON COLUMN pgrecall.judged_queries.query_id IS 'The caller''s own id, unique within the namespace.';
COMMENT ON COLUMN pgrecall.judged_queries.stratum IS 'The kind of query; recall_eval() reports one row per stratum.';
COMMENT ON COLUMN pgrecall.judged_queries.exclude IS 'Memories to ignore: recall_eval() removes them before it counts ranks.';
ALTER TABLE pgrecall.judged_queries
    ALTER COLUMN query_id SET STATISTICS 0,
    ALTER COLUMN query SET STATISTICS 0,
    ALTER COLUMN stratum SET STATISTICS 0;

CREATE TABLE pgrecall.entity_rules (
    namespace_id integer,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    type         text NOT NULL,
    keywords     text[] NOT NULL DEFAULT '{}',
    patterns     text[] NOT NULL DEFAULT '{}',
    CONSTRAINT entity_rules_key UNIQUE NULLS NOT DISTINCT (namespace_id, type),
    CONSTRAINT entity_rules_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id),
    CONSTRAINT entity_rules_keywords_size CHECK ((cardinality(keywords) <= 100000) AND (octet_length(array_to_string(keywords, '')) <= 16777216)),
    CONSTRAINT entity_rules_patterns_size CHECK ((cardinality(patterns) <= 100) AND (octet_length(array_to_string(patterns, '')) <= 1048576)),
    CONSTRAINT entity_rules_type_check CHECK (type ~ '^[A-Z][A-Z0-9_]{0,39}$'),
    CONSTRAINT entity_rules_type_size CHECK (octet_length(type) <= 256)
);
COMMENT ON TABLE pgrecall.entity_rules IS 'Names and regular expressions that mark entities of a type, for one namespace or (NULL) for all. Write with pgrecall.set_entity_rules().';
ALTER TABLE pgrecall.entity_rules
    ALTER COLUMN type SET STATISTICS 0,
    ALTER COLUMN keywords SET STATISTICS 0,
    ALTER COLUMN patterns SET STATISTICS 0;

CREATE TABLE pgrecall.relation_labels (
    namespace_id integer NOT NULL,
    decided_at   timestamptz NOT NULL DEFAULT now(),
    similarity   real,
    alias        text COLLATE "C" NOT NULL,
    label        text COLLATE "C" NOT NULL,
    method       text NOT NULL,
    CONSTRAINT relation_labels_pkey PRIMARY KEY (namespace_id, alias),
    CONSTRAINT relation_labels_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id),
    CONSTRAINT relation_labels_alias_check CHECK (alias <> ''),
    CONSTRAINT relation_labels_alias_size CHECK (octet_length(alias) <= 16384),
    CONSTRAINT relation_labels_label_check CHECK (label <> ''),
    CONSTRAINT relation_labels_label_size CHECK (octet_length(label) <= 16384),
    CONSTRAINT relation_labels_method_size CHECK (octet_length(method) <= 256)
);
COMMENT ON TABLE pgrecall.relation_labels IS 'Relationship labels as stated, each with its canonical label, and how that was decided.';
COMMENT ON COLUMN pgrecall.relation_labels.method IS 'rule, embedding or llm.';
ALTER TABLE pgrecall.relation_labels
    ALTER COLUMN alias SET STATISTICS 0,
    ALTER COLUMN label SET STATISTICS 0,
    ALTER COLUMN method SET STATISTICS 0;

CREATE TABLE pgrecall.generations (
    id          integer NOT NULL,
    model_id    integer,
    dimension   integer NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    switched_at timestamptz,
    state       text NOT NULL,
    column_name text NOT NULL GENERATED ALWAYS AS (CASE WHEN (id = 1) THEN 'embedding' ELSE ('embedding_' || (id)::text) END) STORED,
    CONSTRAINT generations_pkey PRIMARY KEY (id),
    CONSTRAINT generations_column_name_key UNIQUE (column_name),
    CONSTRAINT generations_one_active_one_other EXCLUDE (((state = 'active')) WITH =) DEFERRABLE,
    CONSTRAINT generations_model_id_fkey FOREIGN KEY (model_id) REFERENCES pgrecall.embedding_models(id),
    CONSTRAINT generations_dimension_check CHECK ((dimension >= 1) AND (dimension <= 4000)),
    CONSTRAINT generations_id_check CHECK (id > 0),
    CONSTRAINT generations_state_check CHECK (state = ANY (ARRAY['building', 'active', 'retired']))
);
COMMENT ON TABLE pgrecall.generations IS 'Generations of embeddings. Each has one model and its own column in memories. At most two exist: the active one, which recall reads, and the next (building) or the previous (retired).';
COMMENT ON COLUMN pgrecall.generations.model_id IS 'NULL: no model chosen yet.';
COMMENT ON COLUMN pgrecall.generations.switched_at IS 'When it became active, or stopped being active.';
COMMENT ON CONSTRAINT generations_one_active_one_other ON pgrecall.generations IS 'Drop one of the two generations before adding a third.';

CREATE TABLE pgrecall.grants (
    namespace_id integer NOT NULL,
    role         regrole NOT NULL,
    access       text NOT NULL,
    granted_at   timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT grants_pkey PRIMARY KEY (namespace_id, role) INCLUDE (access),
    CONSTRAINT grants_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id) ON DELETE CASCADE,
    CONSTRAINT grants_access_check CHECK (access = ANY (ARRAY['read', 'write']))
);
COMMENT ON TABLE pgrecall.grants IS 'Which role may read or write which namespace; maintained by grant_namespace() and revoke_namespace(). Members of a role inherit its access.';
COMMENT ON COLUMN pgrecall.grants.access IS 'read, or write, which includes read.';
CREATE INDEX grants_role_idx ON pgrecall.grants (role);

CREATE TABLE pgrecall.concept_aliases (
    namespace_id integer NOT NULL,
    alias        text COLLATE "C" NOT NULL,
    concept_id   bigint NOT NULL,
    name         text NOT NULL,
    is_manual    boolean NOT NULL DEFAULT false,
    CONSTRAINT concept_aliases_pkey PRIMARY KEY (namespace_id, alias, concept_id),
    CONSTRAINT concept_aliases_namespace_id_alias_key UNIQUE (namespace_id, alias),
    CONSTRAINT concept_aliases_namespace_id_concept_id_fkey FOREIGN KEY (namespace_id, concept_id) REFERENCES pgrecall.concepts(namespace_id, id) ON DELETE CASCADE,
    CONSTRAINT concept_aliases_alias_check CHECK (alias <> ''),
    CONSTRAINT concept_aliases_alias_size CHECK (octet_length(alias) <= 16384),
    CONSTRAINT concept_aliases_name_size CHECK (octet_length(name) <= 16384)
);
COMMENT ON TABLE pgrecall.concept_aliases IS 'Normalised names, each of one concept; queries find concepts by them. An unmentioned alias is removed, unless it is manual.';
COMMENT ON COLUMN pgrecall.concept_aliases.name IS 'The name as first written.';
COMMENT ON COLUMN pgrecall.concept_aliases.is_manual IS 'Added manually: stays even if nothing mentions it.';
CREATE INDEX concept_aliases_concept_idx ON pgrecall.concept_aliases (concept_id);
ALTER TABLE pgrecall.concept_aliases
    ALTER COLUMN alias SET STATISTICS 0,
    ALTER COLUMN name SET STATISTICS 0;

CREATE TABLE pgrecall.embedding_jobs (
    memory_id        bigint NOT NULL,
    worker_id        uuid,
    lease_expires_at timestamptz,
    attempts         integer NOT NULL DEFAULT 0,
    next_attempt_at  timestamptz,
    last_error       text,
    generation_id    integer NOT NULL,
    ticket           bigint,
    CONSTRAINT embedding_jobs_pkey PRIMARY KEY (memory_id, generation_id),
    CONSTRAINT embedding_jobs_generation_id_fkey FOREIGN KEY (generation_id) REFERENCES pgrecall.generations(id) ON DELETE CASCADE,
    CONSTRAINT embedding_jobs_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT embedding_jobs_last_error_size CHECK (octet_length(last_error) <= 4096)
);
COMMENT ON TABLE pgrecall.embedding_jobs IS 'Leases and failures of memories that are being embedded. Only memories.embedding decides what is pending: a row here says who holds the lease until when, or when to retry.';
COMMENT ON COLUMN pgrecall.embedding_jobs.attempts IS 'How often it failed, or its worker disappeared. An unavailable provider does not count as an attempt.';
COMMENT ON COLUMN pgrecall.embedding_jobs.ticket IS 'Random number of the current claim.';
CREATE INDEX embedding_jobs_last_attempt_idx ON pgrecall.embedding_jobs (generation_id) WHERE (attempts >= 4);
CREATE INDEX embedding_jobs_worker_idx ON pgrecall.embedding_jobs (worker_id);
ALTER TABLE pgrecall.embedding_jobs
    ALTER COLUMN last_error SET STATISTICS 0;

CREATE TABLE pgrecall.judgements (
    namespace_id integer NOT NULL,
    query_id     text NOT NULL,
    memory_id    bigint NOT NULL,
    CONSTRAINT judgements_pkey PRIMARY KEY (namespace_id, query_id, memory_id),
    CONSTRAINT judgements_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT judgements_namespace_id_query_id_fkey FOREIGN KEY (namespace_id, query_id) REFERENCES pgrecall.judged_queries(namespace_id, query_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgrecall.judgements IS 'The memories that answer a judged query; all other memories of the namespace do not.';
CREATE INDEX judgements_memory_idx ON pgrecall.judgements (memory_id);
ALTER TABLE pgrecall.judgements
    ALTER COLUMN query_id SET STATISTICS 0;

CREATE TABLE pgrecall.temporal_refs (
    memory_id    bigint NOT NULL,
    from_at      timestamptz NOT NULL,
    to_at        timestamptz NOT NULL,
    namespace_id integer NOT NULL,
    span         int4range NOT NULL,
    confidence   real NOT NULL DEFAULT 0.8,
    granularity  text,
    source       text NOT NULL DEFAULT 'trigger',
    CONSTRAINT temporal_refs_pkey PRIMARY KEY (memory_id, span),
    CONSTRAINT temporal_refs_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT temporal_refs_confidence_check CHECK ((confidence >= (0)::double precision) AND (confidence <= (1)::double precision)),
    CONSTRAINT temporal_refs_granularity_size CHECK (octet_length(granularity) <= 256),
    CONSTRAINT temporal_refs_order CHECK (from_at < to_at),
    CONSTRAINT temporal_refs_source_size CHECK (octet_length(source) <= 256)
);
COMMENT ON TABLE pgrecall.temporal_refs IS 'The times that the texts of memories mention, as half-open ranges; filled by triggers, never for sensitive memories.';
COMMENT ON COLUMN pgrecall.temporal_refs.span IS 'Character range in the content, counted from 0.';
COMMENT ON COLUMN pgrecall.temporal_refs.granularity IS 'The unit of the expression: minute, hour, day, week, month, quarter, year.';
COMMENT ON COLUMN pgrecall.temporal_refs.source IS 'What found it: trigger (when the memory was stored), pattern or dateparser (by an extraction).';
CREATE INDEX temporal_refs_period_idx ON pgrecall.temporal_refs (namespace_id, to_at, from_at, memory_id);

CREATE TABLE pgrecall.concept_merges (
    id           bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    namespace_id integer NOT NULL,
    concept_id   bigint NOT NULL,
    merged_at    timestamptz NOT NULL DEFAULT now(),
    split_at     timestamptz,
    similarity   real,
    type         text NOT NULL,
    method       text NOT NULL,
    key          text COLLATE "C" NOT NULL,
    into_key     text COLLATE "C" NOT NULL,
    aliases      text[] COLLATE "C" NOT NULL,
    CONSTRAINT concept_merges_pkey PRIMARY KEY (id),
    CONSTRAINT concept_merges_namespace_id_concept_id_fkey FOREIGN KEY (namespace_id, concept_id) REFERENCES pgrecall.concepts(namespace_id, id) ON DELETE CASCADE,
    CONSTRAINT concept_merges_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id),
    CONSTRAINT concept_merges_aliases_size CHECK ((cardinality(aliases) <= 10000) AND (octet_length(array_to_string(aliases, '')) <= 1048576)),
    CONSTRAINT concept_merges_into_key_size CHECK (octet_length(into_key) <= 16384),
    CONSTRAINT concept_merges_key_size CHECK (octet_length(key) <= 16384),
    CONSTRAINT concept_merges_method_size CHECK (octet_length(method) <= 256),
    CONSTRAINT concept_merges_type_size CHECK (octet_length(type) <= 256)
);
COMMENT ON TABLE pgrecall.concept_merges IS 'Merged concepts, with the method and the names, for split_concept(). Split concepts are not merged again automatically.';
COMMENT ON COLUMN pgrecall.concept_merges.concept_id IS 'The remaining concept.';
COMMENT ON COLUMN pgrecall.concept_merges.type IS 'The type of the merged concept.';
COMMENT ON COLUMN pgrecall.concept_merges.method IS 'name, trigram, embedding, llm or manual.';
COMMENT ON COLUMN pgrecall.concept_merges.key IS 'The normalised name of the merged concept.';
COMMENT ON COLUMN pgrecall.concept_merges.into_key IS 'The normalised name of the remaining concept at that time.';
COMMENT ON COLUMN pgrecall.concept_merges.aliases IS 'The names that came with the merge and still exist; after a split only the key.';
CREATE INDEX concept_merges_concept_idx ON pgrecall.concept_merges (concept_id);
CREATE INDEX concept_merges_into_key_idx ON pgrecall.concept_merges (namespace_id, into_key);
CREATE INDEX concept_merges_key_idx ON pgrecall.concept_merges (namespace_id, key);
ALTER TABLE pgrecall.concept_merges
    ALTER COLUMN type SET STATISTICS 0,
    ALTER COLUMN method SET STATISTICS 0,
    ALTER COLUMN key SET STATISTICS 0,
    ALTER COLUMN into_key SET STATISTICS 0,
    ALTER COLUMN aliases SET STATISTICS 0;

CREATE TABLE pgrecall.extractions (
    memory_id        bigint NOT NULL,
    ticket           bigint,
    worker_id        uuid,
    lease_expires_at timestamptz,
    next_attempt_at  timestamptz,
    extracted_at     timestamptz,
    waiting_since    timestamptz NOT NULL DEFAULT now(),
    attempts         integer NOT NULL DEFAULT 0,
    is_pending       boolean NOT NULL DEFAULT true,
    enricher         text NOT NULL,
    version          text,
    last_error       text,
    CONSTRAINT extractions_pkey PRIMARY KEY (memory_id, enricher),
    CONSTRAINT extractions_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT extractions_enricher_size CHECK (octet_length(enricher) <= 256),
    CONSTRAINT extractions_last_error_size CHECK (octet_length(last_error) <= 4096),
    CONSTRAINT extractions_version_size CHECK (octet_length(version) <= 256)
);
COMMENT ON TABLE pgrecall.extractions IS 'Extraction of names, times and facts: one row per memory and enricher, done by which version, or pending. Sensitive and forgotten memories have no row.';
COMMENT ON COLUMN pgrecall.extractions.ticket IS 'Number of the current claim; the result of reading an older text has an outdated ticket and is discarded.';
COMMENT ON COLUMN pgrecall.extractions.waiting_since IS 'When the pending extraction, or the last completed one, was queued.';
COMMENT ON COLUMN pgrecall.extractions.enricher IS 'text (no language model), or llm if enabled.';
COMMENT ON COLUMN pgrecall.extractions.version IS 'Version of the extractor, its models and its settings at the last extraction.';
CREATE INDEX extractions_pending_idx ON pgrecall.extractions (enricher, memory_id) WHERE is_pending;
CREATE INDEX extractions_worker_idx ON pgrecall.extractions (worker_id) WHERE (worker_id IS NOT NULL);
ALTER TABLE pgrecall.extractions
    ALTER COLUMN version SET STATISTICS 0,
    ALTER COLUMN last_error SET STATISTICS 0;

CREATE TABLE pgrecall.llm_answers (
    key        bytea NOT NULL,
    memory_id  bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    answer     jsonb NOT NULL,
    CONSTRAINT llm_answers_pkey PRIMARY KEY (key, memory_id),
    CONSTRAINT llm_answers_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT llm_answers_answer_size CHECK (octet_length((answer)::text) <= 1048576),
    CONSTRAINT llm_answers_key_size CHECK (octet_length(key) <= 256)
);
COMMENT ON TABLE pgrecall.llm_answers IS 'A language model''s answers about a memory, by model, prompt and text; deleted when the memory changes, becomes sensitive or is forgotten.';
CREATE INDEX llm_answers_memory_idx ON pgrecall.llm_answers (memory_id);
ALTER TABLE pgrecall.llm_answers
    ALTER COLUMN key SET STATISTICS 0,
    ALTER COLUMN answer SET STATISTICS 0;

CREATE TABLE pgrecall.embedding_failures (
    memory_id     bigint NOT NULL,
    generation_id integer NOT NULL,
    attempts      integer NOT NULL,
    failed_at     timestamptz NOT NULL DEFAULT now(),
    cause         text NOT NULL,
    error         text NOT NULL,
    CONSTRAINT embedding_failures_pkey PRIMARY KEY (memory_id, generation_id),
    CONSTRAINT embedding_failures_generation_id_fkey FOREIGN KEY (generation_id) REFERENCES pgrecall.generations(id) ON DELETE CASCADE,
    CONSTRAINT embedding_failures_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT embedding_failures_cause_size CHECK (octet_length(cause) <= 256),
    CONSTRAINT embedding_failures_error_size CHECK (octet_length(error) <= 4096)
);
COMMENT ON TABLE pgrecall.embedding_failures IS 'Failed memories: not retried until their text changes or pgrecall.retry_failures() is called. Never contains their content.';
COMMENT ON COLUMN pgrecall.embedding_failures.cause IS 'One word, to group by.';
CREATE INDEX embedding_failures_cause_idx ON pgrecall.embedding_failures (generation_id, cause);
ALTER TABLE pgrecall.embedding_failures
    ALTER COLUMN cause SET STATISTICS 0,
    ALTER COLUMN error SET STATISTICS 0;

CREATE TABLE pgrecall.truncated_embeddings (
    memory_id     bigint NOT NULL,
    generation_id integer NOT NULL,
    CONSTRAINT truncated_embeddings_pkey PRIMARY KEY (memory_id, generation_id),
    CONSTRAINT truncated_embeddings_generation_id_fkey FOREIGN KEY (generation_id) REFERENCES pgrecall.generations(id) ON DELETE CASCADE,
    CONSTRAINT truncated_embeddings_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE
);
COMMENT ON TABLE pgrecall.truncated_embeddings IS 'Memories that exceed the model''s input limit: only their beginning is embedded.';

CREATE TABLE pgrecall.passages (
    memory_id     bigint NOT NULL,
    generation_id integer NOT NULL,
    number        integer NOT NULL,
    namespace_id  integer NOT NULL,
    starts_at     integer NOT NULL,
    ends_at       integer NOT NULL,
    embedding     pgvector.halfvec NOT NULL,
    CONSTRAINT passages_pkey PRIMARY KEY (memory_id, generation_id, number),
    CONSTRAINT passages_bounds CHECK (starts_at >= 0 AND starts_at < ends_at),
    CONSTRAINT passages_generation_id_fkey FOREIGN KEY (generation_id) REFERENCES pgrecall.generations(id) ON DELETE CASCADE,
    CONSTRAINT passages_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT passages_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id)
);
COMMENT ON TABLE pgrecall.passages IS 'Embeddings of the passages of long memories, beside the embedding of the whole memory.';
COMMENT ON COLUMN pgrecall.passages.number IS 'Its place among the passages of the memory, from 1.';
COMMENT ON COLUMN pgrecall.passages.starts_at IS 'Its first character in memories.content, counted from 0.';
COMMENT ON COLUMN pgrecall.passages.ends_at IS 'The character after its last one.';
CREATE INDEX passages_namespace_id_idx ON pgrecall.passages (namespace_id, generation_id);
CREATE INDEX passages_embedding_idx ON pgrecall.passages USING hnsw ((embedding::pgvector.halfvec({dimension})) pgvector.halfvec_cosine_ops)
    WITH (m='16', ef_construction='64') WHERE (generation_id = 1);
ALTER TABLE pgrecall.passages ALTER COLUMN embedding SET STATISTICS 0, ALTER COLUMN embedding SET STORAGE {storage};

CREATE TABLE pgrecall.embedding_backgrounds (
    namespace_id  integer NOT NULL,
    generation_id integer NOT NULL,
    mean          pgvector.halfvec NOT NULL,
    deviation     double precision NOT NULL,
    sampled_from  integer NOT NULL,
    added         integer NOT NULL DEFAULT 0,
    CONSTRAINT embedding_backgrounds_pkey PRIMARY KEY (namespace_id, generation_id),
    CONSTRAINT embedding_backgrounds_deviation_check CHECK (deviation > 0),
    CONSTRAINT embedding_backgrounds_generation_id_fkey FOREIGN KEY (generation_id) REFERENCES pgrecall.generations(id) ON DELETE CASCADE,
    CONSTRAINT embedding_backgrounds_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id) ON DELETE CASCADE
) WITH (fillfactor='50');
COMMENT ON TABLE pgrecall.embedding_backgrounds IS 'What cosines between unrelated memories of a namespace look like: recall measures a cosine against it.';
COMMENT ON COLUMN pgrecall.embedding_backgrounds.mean IS 'The mean of a sample of the namespace''s embeddings.';
COMMENT ON COLUMN pgrecall.embedding_backgrounds.deviation IS 'Root mean square of cosines between sampled embeddings, the mean subtracted.';
COMMENT ON COLUMN pgrecall.embedding_backgrounds.sampled_from IS 'How many embeddings the sample was taken from.';
COMMENT ON COLUMN pgrecall.embedding_backgrounds.added IS 'How many embeddings were stored since.';

CREATE UNLOGGED TABLE pgrecall.query_embeddings (
    id            bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    generation_id integer NOT NULL,
    requested_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_expires_at  timestamptz,
    answered_at   timestamptz,
    used_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    query_hash    bytea NOT NULL,
    query         text,
    error         text,
    embedding     pgvector.halfvec,
    role          regrole NOT NULL,
    claimed_at    timestamptz,
    CONSTRAINT query_embeddings_pkey PRIMARY KEY (generation_id, role, query_hash),
    CONSTRAINT query_embeddings_id_key UNIQUE (id),
    CONSTRAINT query_embeddings_generation_id_fkey FOREIGN KEY (generation_id) REFERENCES pgrecall.generations(id) ON DELETE CASCADE,
    CONSTRAINT query_embeddings_answer CHECK ((answered_at IS NOT NULL) = ((embedding IS NOT NULL) OR (error IS NOT NULL))),
    CONSTRAINT query_embeddings_answered CHECK ((answered_at IS NULL) = (query IS NOT NULL)),
    CONSTRAINT query_embeddings_error_size CHECK (octet_length(error) <= 4096),
    CONSTRAINT query_embeddings_length CHECK (length(query) <= 16384),
    CONSTRAINT query_embeddings_query_hash_size CHECK (octet_length(query_hash) <= 64),
    CONSTRAINT query_embeddings_times CHECK (isfinite(requested_at) AND isfinite(used_at) AND isfinite(claimed_at))
);
COMMENT ON TABLE pgrecall.query_embeddings IS 'Cached embeddings of queries, made by embedders for clients without a model.';
COMMENT ON COLUMN pgrecall.query_embeddings.query IS 'The query until it is embedded; afterwards only its hash is kept.';
COMMENT ON COLUMN pgrecall.query_embeddings.role IS 'The role that asked: no other role can learn from the cache what was asked.';
COMMENT ON COLUMN pgrecall.query_embeddings.claimed_at IS 'When an embedder last claimed it: determines whose turn is next.';
CREATE INDEX query_embeddings_asked_idx ON pgrecall.query_embeddings (generation_id, role, requested_at) WHERE (answered_at IS NULL);
CREATE INDEX query_embeddings_claimed_idx ON pgrecall.query_embeddings (role, claimed_at);
CREATE INDEX query_embeddings_used_idx ON pgrecall.query_embeddings (used_at);
ALTER TABLE pgrecall.query_embeddings
    ALTER COLUMN query_hash SET STATISTICS 0,
    ALTER COLUMN query SET STATISTICS 0,
    ALTER COLUMN error SET STATISTICS 0;

CREATE TABLE pgrecall.judged_vectors (
    namespace_id       integer NOT NULL,
    embedding_model_id integer NOT NULL,
    query_id           text NOT NULL,
    query_vec          pgvector.halfvec NOT NULL,
    CONSTRAINT judged_vectors_pkey PRIMARY KEY (namespace_id, query_id, embedding_model_id),
    CONSTRAINT judged_vectors_embedding_model_id_fkey FOREIGN KEY (embedding_model_id) REFERENCES pgrecall.embedding_models(id) ON DELETE CASCADE,
    CONSTRAINT judged_vectors_namespace_id_query_id_fkey FOREIGN KEY (namespace_id, query_id) REFERENCES pgrecall.judged_queries(namespace_id, query_id) ON DELETE CASCADE
);
COMMENT ON TABLE pgrecall.judged_vectors IS 'Embeddings of judged queries, with the model that made them.';
ALTER TABLE pgrecall.judged_vectors
    ALTER COLUMN query_id SET STATISTICS 0;

CREATE TABLE pgrecall.curation_jobs (
    memory_id        bigint NOT NULL,
    ticket           bigint,
    worker_id        uuid,
    lease_expires_at timestamptz,
    waiting_since    timestamptz NOT NULL DEFAULT now(),
    attempts         integer NOT NULL DEFAULT 0,
    CONSTRAINT curation_jobs_pkey PRIMARY KEY (memory_id),
    CONSTRAINT curation_jobs_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE
);
COMMENT ON TABLE pgrecall.curation_jobs IS 'New memories to compare with older ones of their namespace, while the setting curate is on; a row is deleted with the decision.';
COMMENT ON COLUMN pgrecall.curation_jobs.ticket IS 'Random number of the current claim.';
COMMENT ON COLUMN pgrecall.curation_jobs.attempts IS 'Claims without a result; after the fifth it is not claimed again.';
CREATE INDEX curation_jobs_worker_idx ON pgrecall.curation_jobs (worker_id) WHERE (worker_id IS NOT NULL);

CREATE TABLE pgrecall.curations (
    id           bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    memory_id    bigint NOT NULL,
    other_id     bigint,
    namespace_id integer NOT NULL,
    decided_at   timestamptz NOT NULL DEFAULT now(),
    undone_at    timestamptz,
    decision     text NOT NULL,
    decider      text NOT NULL,
    evidence     jsonb NOT NULL DEFAULT '{}',
    before       jsonb NOT NULL DEFAULT '{}',
    after        jsonb NOT NULL DEFAULT '{}',
    CONSTRAINT curations_pkey PRIMARY KEY (id),
    CONSTRAINT curations_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT curations_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES pgrecall.namespaces(id),
    CONSTRAINT curations_other_id_fkey FOREIGN KEY (other_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT curations_after_size CHECK (octet_length((after)::text) <= 1048576),
    CONSTRAINT curations_before_size CHECK (octet_length((before)::text) <= 1048576),
    CONSTRAINT curations_decider_size CHECK (octet_length(decider) <= 1024),
    CONSTRAINT curations_decision_check CHECK (decision = ANY (ARRAY['ADD', 'UPDATE', 'SUPERSEDE', 'NOOP'])),
    CONSTRAINT curations_evidence_size CHECK (octet_length((evidence)::text) <= 1048576),
    CONSTRAINT curations_names_the_other CHECK ((decision = 'ADD') OR (other_id IS NOT NULL)),
    CONSTRAINT curations_not_of_itself CHECK (other_id <> memory_id)
);
COMMENT ON TABLE pgrecall.curations IS 'Decisions of curation about new memories, with the evidence and the changes: numbers, ids and times, no text. undo_curation() reverts one.';
COMMENT ON COLUMN pgrecall.curations.memory_id IS 'The new memory.';
COMMENT ON COLUMN pgrecall.curations.other_id IS 'The older memory that it was compared with; NULL: none was near.';
COMMENT ON COLUMN pgrecall.curations.decision IS 'ADD: nothing changes. NOOP: the older memory supersedes the new one. UPDATE, SUPERSEDE: the new memory supersedes the older one.';
COMMENT ON COLUMN pgrecall.curations.decider IS 'rules, or the name of a language model, each with its version.';
COMMENT ON COLUMN pgrecall.curations.evidence IS 'Numbers only; empty once either memory is sensitive.';
COMMENT ON COLUMN pgrecall.curations.before IS 'The changed fields before the change, by memory id.';
COMMENT ON COLUMN pgrecall.curations.after IS 'The same fields after the change.';
CREATE INDEX curations_memory_idx ON pgrecall.curations (memory_id);
CREATE INDEX curations_namespace_idx ON pgrecall.curations (namespace_id, id);
CREATE INDEX curations_other_idx ON pgrecall.curations (other_id) WHERE (other_id IS NOT NULL);
CREATE UNIQUE INDEX curations_active_key ON pgrecall.curations (memory_id) WHERE (undone_at IS NULL);
ALTER TABLE pgrecall.curations
    ALTER COLUMN decision SET STATISTICS 0,
    ALTER COLUMN decider SET STATISTICS 0,
    ALTER COLUMN evidence SET STATISTICS 0,
    ALTER COLUMN before SET STATISTICS 0,
    ALTER COLUMN after SET STATISTICS 0;

CREATE TABLE pgrecall.mentions (
    concept_id   bigint NOT NULL,
    memory_id    bigint NOT NULL,
    namespace_id integer NOT NULL,
    confidence   real NOT NULL DEFAULT 1,
    source       text NOT NULL,
    span         int4range,
    alias        text COLLATE "C" NOT NULL,
    type         text,
    is_about     boolean NOT NULL DEFAULT false,
    CONSTRAINT mentions_pkey PRIMARY KEY (memory_id, alias, source) INCLUDE (concept_id, is_about),
    CONSTRAINT mentions_alias_fkey FOREIGN KEY (namespace_id, alias, concept_id) REFERENCES pgrecall.concept_aliases(namespace_id, alias, concept_id) ON UPDATE CASCADE,
    CONSTRAINT mentions_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT mentions_confidence_check CHECK ((confidence >= (0)::double precision) AND (confidence <= (1)::double precision)),
    CONSTRAINT mentions_source_size CHECK (octet_length(source) <= 256),
    CONSTRAINT mentions_type_size CHECK (octet_length(type) <= 256)
);
COMMENT ON TABLE pgrecall.mentions IS 'Which memory mentions which concept, and what found the mention.';
COMMENT ON COLUMN pgrecall.mentions.source IS 'What found the mention: tag, keyword, or the name of an enricher.';
COMMENT ON COLUMN pgrecall.mentions.span IS 'Character range in the content, if the mention is in the text.';
COMMENT ON COLUMN pgrecall.mentions.alias IS 'The normalised name of the mention.';
COMMENT ON COLUMN pgrecall.mentions.type IS 'The type found with the mention; NULL for tags and keywords.';
COMMENT ON COLUMN pgrecall.mentions.is_about IS 'The memory is about the concept: the concept is its title or subject.';
CREATE INDEX mentions_concept_idx ON pgrecall.mentions (concept_id, is_about DESC, memory_id DESC);
ALTER TABLE pgrecall.mentions
    ALTER COLUMN alias SET STATISTICS 0,
    ALTER COLUMN type SET STATISTICS 0;

CREATE TABLE pgrecall.relationships (
    id            bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    namespace_id  integer NOT NULL,
    source_id     bigint NOT NULL,
    target_id     bigint NOT NULL,
    label         text NOT NULL,
    weight        real NOT NULL DEFAULT 1,
    valid_from    timestamptz,
    valid_to      timestamptz,
    recorded_at   timestamptz NOT NULL DEFAULT now(),
    superseded_at timestamptz,
    superseded_by bigint,
    is_exclusive  boolean NOT NULL DEFAULT false,
    source_alias  text COLLATE "C" NOT NULL,
    target_alias  text COLLATE "C" NOT NULL,
    CONSTRAINT relationships_pkey PRIMARY KEY (id),
    CONSTRAINT relationships_source_fkey FOREIGN KEY (namespace_id, source_alias, source_id) REFERENCES pgrecall.concept_aliases(namespace_id, alias, concept_id) ON UPDATE CASCADE,
    CONSTRAINT relationships_superseded_by_fkey FOREIGN KEY (superseded_by) REFERENCES pgrecall.relationships(id) ON DELETE SET NULL,
    CONSTRAINT relationships_target_fkey FOREIGN KEY (namespace_id, target_alias, target_id) REFERENCES pgrecall.concept_aliases(namespace_id, alias, concept_id) ON UPDATE CASCADE,
    CONSTRAINT relationships_check CHECK (valid_to >= valid_from),
    CONSTRAINT relationships_label_check CHECK (label <> ''),
    CONSTRAINT relationships_label_size CHECK (octet_length(label) <= 16384),
    CONSTRAINT relationships_weight_check CHECK ((weight >= (0)::double precision) AND (weight <= (1)::double precision))
);
COMMENT ON TABLE pgrecall.relationships IS 'Typed, directed, bi-temporal edges between two concepts of one namespace.';
COMMENT ON COLUMN pgrecall.relationships.label IS 'The canonical label: works at, capital of.';
COMMENT ON COLUMN pgrecall.relationships.weight IS 'Confidence from all evidence together.';
COMMENT ON COLUMN pgrecall.relationships.recorded_at IS 'When its first evidence was recorded; valid_from and valid_to are when it was true.';
COMMENT ON COLUMN pgrecall.relationships.superseded_at IS 'When the contradiction was recorded; valid_to is when it stopped being true.';
COMMENT ON COLUMN pgrecall.relationships.superseded_by IS 'The relationship that contradicts it; if that one is removed, this one holds again.';
COMMENT ON COLUMN pgrecall.relationships.is_exclusive IS 'Evidence says that the subject has no other object with this label at the time.';
COMMENT ON COLUMN pgrecall.relationships.source_alias IS 'The normalised name of the subject, as stated.';
COMMENT ON COLUMN pgrecall.relationships.target_alias IS 'The normalised name of the object, as stated.';
CREATE INDEX relationships_exclusive_idx ON pgrecall.relationships (source_id, label) WHERE is_exclusive;
CREATE INDEX relationships_label_idx ON pgrecall.relationships (namespace_id, label);
CREATE INDEX relationships_newest_source_idx ON pgrecall.relationships (source_id, id);
CREATE INDEX relationships_newest_target_idx ON pgrecall.relationships (target_id, id);
CREATE INDEX relationships_source_idx ON pgrecall.relationships (source_id, label, target_id);
CREATE INDEX relationships_superseded_by_idx ON pgrecall.relationships (superseded_by) WHERE (superseded_by IS NOT NULL);
CREATE INDEX relationships_target_idx ON pgrecall.relationships (target_id, label, source_id);
CREATE UNIQUE INDEX relationships_open_key ON pgrecall.relationships (source_alias, label, target_alias, namespace_id) WHERE (valid_to IS NULL);
ALTER TABLE pgrecall.relationships
    ALTER COLUMN label SET STATISTICS 0,
    ALTER COLUMN source_alias SET STATISTICS 0,
    ALTER COLUMN target_alias SET STATISTICS 0;

CREATE TABLE pgrecall.relationship_evidence (
    relationship_id bigint NOT NULL,
    memory_id       bigint NOT NULL,
    confidence      real NOT NULL DEFAULT 1,
    source          text NOT NULL DEFAULT 'pattern',
    statement       text,
    id              bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    valid_from      timestamptz,
    valid_to        timestamptz,
    is_exclusive    boolean NOT NULL DEFAULT false,
    label           text,
    namespace_id    integer NOT NULL,
    CONSTRAINT relationship_evidence_pkey PRIMARY KEY (id),
    CONSTRAINT relationship_evidence_key UNIQUE NULLS NOT DISTINCT (relationship_id, memory_id, source, label, valid_from, valid_to),
    CONSTRAINT relationship_evidence_memory_id_fkey FOREIGN KEY (memory_id) REFERENCES pgrecall.memories(id) ON DELETE CASCADE,
    CONSTRAINT relationship_evidence_relationship_id_fkey FOREIGN KEY (relationship_id) REFERENCES pgrecall.relationships(id) ON DELETE CASCADE,
    CONSTRAINT relationship_evidence_confidence_check CHECK ((confidence >= (0)::double precision) AND (confidence <= (1)::double precision)),
    CONSTRAINT relationship_evidence_label_size CHECK (octet_length(label) <= 16384),
    CONSTRAINT relationship_evidence_source_size CHECK (octet_length(source) <= 256),
    CONSTRAINT relationship_evidence_statement_size CHECK (octet_length(statement) <= 262144)
);
COMMENT ON TABLE pgrecall.relationship_evidence IS 'The memories that state a relationship.';
COMMENT ON COLUMN pgrecall.relationship_evidence.source IS 'What found it: pattern or llm.';
COMMENT ON COLUMN pgrecall.relationship_evidence.statement IS 'The fact in one sentence, as this memory states it; NULL: names and label state it in full.';
COMMENT ON COLUMN pgrecall.relationship_evidence.valid_from IS 'When it became true, as stated; NULL: not stated.';
COMMENT ON COLUMN pgrecall.relationship_evidence.valid_to IS 'When it stopped being true, as stated; NULL: not stated.';
COMMENT ON COLUMN pgrecall.relationship_evidence.is_exclusive IS 'Contradicts other objects of the same subject and label.';
COMMENT ON COLUMN pgrecall.relationship_evidence.label IS 'The label as stated; NULL: the relationship''s label.';
COMMENT ON COLUMN pgrecall.relationship_evidence.namespace_id IS 'The memory''s namespace; filled by a trigger.';
CREATE INDEX relationship_evidence_memory_idx ON pgrecall.relationship_evidence (memory_id, relationship_id);
ALTER TABLE pgrecall.relationship_evidence
    ALTER COLUMN source SET STATISTICS 0,
    ALTER COLUMN statement SET STATISTICS 0,
    ALTER COLUMN label SET STATISTICS 0;

CREATE SEQUENCE pgrecall.generation_numbers AS integer START 2 OWNED BY pgrecall.generations.id;
COMMENT ON SEQUENCE pgrecall.generation_numbers IS 'No number is used twice.';

-- A generation's column is state, so these functions are rebuilt whenever a generation is added or dropped.
CREATE FUNCTION _pgrecall.embedding_of(memory pgrecall.memories, generation integer)
RETURNS pgvector.halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE generation WHEN 1 THEN (memory).embedding END;
COMMENT ON FUNCTION _pgrecall.embedding_of IS
    'Returns the embedding of a memory in a generation. The planner inlines the column. Rebuilt with each generation.';
CREATE FUNCTION _pgrecall.name_embedding_of(concept pgrecall.concepts, generation integer)
RETURNS pgvector.halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE generation WHEN 1 THEN (concept).embedding END;
COMMENT ON FUNCTION _pgrecall.name_embedding_of IS
    'Returns the embedding of a concept''s name in a generation. The planner inlines the column. Rebuilt with each generation.';

INSERT INTO pgrecall.installation DEFAULT VALUES;
INSERT INTO pgrecall.namespaces (name) VALUES ('default');
INSERT INTO pgrecall.generations (id, dimension, state) VALUES (1, {dimension}, 'active');
INSERT INTO pgrecall.locks (home, name)
SELECT n.id, l.name FROM pgrecall.namespaces n CROSS JOIN unnest('{names,facts,postings,extractions,imports}'::text[]) l (name)
UNION ALL
VALUES (0, 'resolve_concepts');

-- Row-level security without a policy denies all access to a table.
DO $security$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT c.oid::regclass AS table FROM pg_class c
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r'
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', found.table);
    END LOOP;
END
$security$;
