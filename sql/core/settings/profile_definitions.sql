-- The built-in profiles: settings that belong together, under a name.
--
--   default  the built-in defaults
--   voice    for a voice assistant: any of the words by BM25 over the last 168 hours, fusion rrf with rrf_k 60, pools
--            of 4, 2 and 1 times k, scores that halve in 30 days, people and places at least 0.3, MMR by words over the
--            best 20, five memories
--   service  like an older search service: words only, every word before some of the words, by 0.4 ts_rank + 0.6
--            importance
CREATE OR REPLACE VIEW pgrecall.profile_definitions AS
SELECT d.name, d.settings, d.description
FROM (VALUES
    ('default', '{}'::jsonb, 'The built-in defaults.'),
    ('voice', '{
        "k": 5, "fusion": "rrf", "rrf_k": 60, "lexical_pool": 4, "dense_pool": 2, "graph_pool": 1,
        "lexical_lookback": "168 hours", "half_life": "30 days",
        "decay_floors": "person=0.3, place=0.3, relationship=0.3",
        "mmr_lambda": 0.7, "mmr_pool": 20, "mmr_similarity": "words",
        "phrase_bonus": 0, "entity_boost": 1, "other_speaker_factor": 1, "session_share": 0,
        "question_time": 0, "newer_first": false
     }'::jsonb, 'For a voice assistant: recent words, fusion by rank, decay in 30 days, five diverse memories.'),
    ('service', '{
        "strategy": "fulltext", "fusion": "rrf", "lexical_mode": "ts_rank", "ts_rank_importance": 0.6,
        "phrase_bonus": 0, "entity_boost": 1, "other_speaker_factor": 1, "session_share": 0,
        "question_time": 0, "newer_first": false
     }'::jsonb, 'Words only: every word before some of the words, by 0.4 ts_rank + 0.6 importance.')
) AS d (name, settings, description);

GRANT SELECT ON pgrecall.profile_definitions TO pgrecall_reader, pgrecall_embedder;
