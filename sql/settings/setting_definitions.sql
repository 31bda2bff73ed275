-- Every setting of pgrecall: its built-in default, what it accepts, what it does.
--
-- One line a setting. A NULL minimum means text: one of choices where there are any. settings_in_force resolves them,
-- effective_settings() hands those of a recall to it: each needs a field of the same name in pgrecall.recall_settings.
-- A stored-only setting shapes what is stored: a session cannot override it, set_setting() brings what is there in line.
CREATE OR REPLACE VIEW pgrecall.setting_definitions AS
SELECT d.name, d.default_value, d.minimum, d.maximum, d.is_integer, d.unit, d.description, d.choices,
       d.name IN ('embed_keywords', 'lexical_k1', 'lexical_b', 'lexical_length_pivot',
                  'field_weight_a', 'field_weight_b', 'field_weight_c', 'field_weight_d') AS is_stored_only
FROM (VALUES
    ('namespace', 'default', NULL::double precision, NULL::double precision, false, 'name',
     'The namespace of a call that names none.', NULL::text[]),
    ('embedding_model', '', NULL, NULL, false, 'name',
     'The model whose vectors memories.embedding holds; written by pgrecall.activate_model().', NULL),
    ('embed_keywords', 'off', NULL, NULL, false, 'on | off',
     'Whether expanded_keywords are part of the embedded text. Stored only.', ARRAY['on', 'off']),
    ('rrf_k', '10', 1, 10000, false, 'ranks',
     'k of reciprocal rank fusion: the larger, the less the first ranks stand out.', NULL),
    ('lexical_weight', '1', 0, 100, false, 'weight', 'Weight of the lexical leg in the fusion.', NULL),
    ('dense_weight', '1', 0, 100, false, 'weight', 'Weight of the dense leg in the fusion.', NULL),
    ('graph_weight', '0.35', 0, 100, false, 'weight', 'Weight of the graph leg in the fusion.', NULL),
    ('phrase_bonus', '1', 0, 100, false, 'weight',
     'What a memory gains that holds the query word for word, as if one more leg of this weight had it first.', NULL),
    ('leg_depth', '50', 1, 1000, true, 'memories',
     'How many candidates each leg yields; never fewer than the k that was asked for.', NULL),
    ('lexical_mode', 'bm25', NULL, NULL, false, 'mode',
     'How the lexical leg finds and ranks: bm25; ts_rank (every word before some words, 0.7 ts_rank + 0.3 importance); '
     'websearch (BM25 of what matches quotes, minus and or); prefix (every word or its beginning, by ts_rank).',
     ARRAY['bm25', 'ts_rank', 'websearch', 'prefix']),
    ('lexical_budget', '500', 10, 100000, true, 'postings',
     'How many postings of each word BM25 reads, the best first; words with more memories are scored exactly for the best.', NULL),
    ('lexical_terms', '32', 1, 1000, true, 'words', 'How many words of a query BM25 counts, the rarest.', NULL),
    ('lexical_k1', '1.2', 0, 10, false, 'k1', 'BM25: how soon more of the same word stops counting. Stored only.', NULL),
    ('lexical_b', '0.75', 0, 1, false, 'b', 'BM25: how much a memory''s length counts. Stored only.', NULL),
    ('lexical_length_pivot', '72', 1, 100000, false, 'words',
     'BM25: the length of a memory that is neither long nor short. Stored only.', NULL),
    ('field_weight_a', '1', 0, 10, false, 'weight', 'What a word counts in title and content. Stored only.', NULL),
    ('field_weight_b', '0.6', 0, 10, false, 'weight', 'What a word counts in expanded_keywords. Stored only.', NULL),
    ('field_weight_c', '0.6', 0, 10, false, 'weight', 'What a word counts in tags. Stored only.', NULL),
    ('field_weight_d', '0.3', 0, 10, false, 'weight', 'What a word counts in the category. Stored only.', NULL),
    ('lexical_min_rank', '0', 0, 1, false, 'ts_rank',
     'In mode ts_rank: memories that match only some of the words need at least this ts_rank.', NULL),
    ('dense_exact_rows', '5000', 0, 1000000, true, 'memories',
     'Namespaces of up to this many memories are searched exactly, without the HNSW index.', NULL),
    ('graph_seeds', '10', 0, 100, true, 'memories',
     'How many of the best lexical and dense hits the graph leg starts from, and goes on from at each hop.', NULL),
    ('graph_neighbours', '25', 1, 1000, true, 'memories', 'How many memories each of them, and each concept of the query, leads to.', NULL),
    ('graph_hops', '2', 0, 2, true, 'hops', 'How far the graph leg walks; 0 turns it off.', NULL),
    ('graph_decay', '0.5', 0, 1, false, 'factor', 'What a hop leaves of the weight it starts with.', NULL),
    ('graph_df_min', '2', 1, 1000000, true, 'memories', 'Concepts that fewer memories mention link nothing.', NULL),
    ('graph_df_share', '0.02', 0, 1, false, 'share of the namespace',
     'Concepts that a larger share of the namespace mentions are hubs and link nothing.', NULL),
    ('graph_df_floor', '10', 1, 1000000, true, 'memories',
     'No concept with up to this many memories counts as a hub: in a small namespace the share alone would leave none.', NULL),
    ('graph_df_max', '100', 1, 1000000, true, 'memories', 'Every concept with more memories than this is a hub.', NULL)
) AS d (name, default_value, minimum, maximum, is_integer, unit, description, choices);

COMMENT ON VIEW pgrecall.setting_definitions IS
    'Every setting of pgrecall with its default, range, unit and effect. See settings_in_force for the values.';
