-- Every setting of pgrecall: its built-in default, what it accepts, what it does.
--
-- One line a setting; a NULL minimum means text. settings_in_force resolves them, effective_settings() hands the
-- numeric ones to recall(). A new numeric setting needs a field of the same name in pgrecall.recall_settings.
CREATE OR REPLACE VIEW pgrecall.setting_definitions AS
SELECT d.name, d.default_value, d.minimum, d.maximum, d.is_integer, d.unit, d.description
FROM (VALUES
    ('namespace', 'default', NULL::double precision, NULL::double precision, false, 'name',
     'The namespace of a call that names none.'),
    ('embedding_model', '', NULL, NULL, false, 'name',
     'The model whose vectors memories.embedding holds; written by pgrecall.activate_model().'),
    ('embed_keywords', 'off', NULL, NULL, false, 'on | off',
     'Whether expanded_keywords are part of the embedded text. Stored only: a session cannot override it.'),
    ('rrf_k', '60', 1, 10000, false, 'ranks',
     'k of reciprocal rank fusion: the larger, the less the first ranks stand out.'),
    ('lexical_weight', '1', 0, 100, false, 'weight', 'Weight of the lexical leg in the fusion.'),
    ('dense_weight', '1', 0, 100, false, 'weight', 'Weight of the dense leg in the fusion.'),
    ('graph_weight', '0.35', 0, 100, false, 'weight', 'Weight of the graph leg in the fusion.'),
    ('leg_depth', '50', 1, 1000, true, 'memories',
     'How many candidates each leg yields; never fewer than the k that was asked for.'),
    ('lexical_min_rank', '0', 0, 1, false, 'ts_rank',
     'Memories that match only some of the words need at least this ts_rank.'),
    ('dense_exact_rows', '5000', 0, 1000000, true, 'memories',
     'Namespaces of up to this many memories are searched exactly, without the HNSW index.'),
    ('graph_seeds', '10', 0, 100, true, 'memories',
     'How many of the best lexical and dense hits the graph leg starts from, and goes on from at each hop.'),
    ('graph_neighbours', '25', 1, 1000, true, 'memories', 'How many memories each of them, and each concept of the query, leads to.'),
    ('graph_hops', '2', 0, 2, true, 'hops', 'How far the graph leg walks; 0 turns it off.'),
    ('graph_decay', '0.5', 0, 1, false, 'factor', 'What a hop leaves of the weight it starts with.'),
    ('graph_df_min', '2', 1, 1000000, true, 'memories', 'Concepts that fewer memories mention link nothing.'),
    ('graph_df_share', '0.02', 0, 1, false, 'share of the namespace',
     'Concepts that a larger share of the namespace mentions are hubs and link nothing.'),
    ('graph_df_floor', '10', 1, 1000000, true, 'memories',
     'No concept with up to this many memories counts as a hub: in a small namespace the share alone would leave none.'),
    ('graph_df_max', '100', 1, 1000000, true, 'memories', 'Every concept with more memories than this is a hub.')
) AS d (name, default_value, minimum, maximum, is_integer, unit, description);

COMMENT ON VIEW pgrecall.setting_definitions IS
    'Every setting of pgrecall with its default, range, unit and effect. See settings_in_force for the values.';
