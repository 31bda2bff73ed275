-- The settings that learn() may change, in the order of its search, with the values that it tries.
--
-- They are the weights whose best value differs most between kinds of memories.
CREATE OR REPLACE VIEW pgrecall.learnable_settings AS
SELECT s.place, s.name, s.tried
FROM (VALUES
    (1, 'cc_alpha', '{0.3, 0.4, 0.5, 0.55, 0.6, 0.7, 0.8}'::text[]),
    (2, 'dense_deviations', '{5, 6, 8, 10, 13}'),
    (3, 'lexical_coverage', '{0.3, 0.6, 0.8, 1}'),
    (4, 'session_share', '{0, 0.3, 0.45, 0.6, 0.75}'),
    (5, 'graph_weight', '{0, 0.7, 1.4, 2}'),
    (6, 'phrase_bonus', '{0, 0.15, 0.3, 0.5}'),
    (7, 'other_speaker_factor', '{0.6, 0.8, 1}')
) AS s (place, name, tried);
