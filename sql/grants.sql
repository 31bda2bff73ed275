-- Grants all privileges. Installed last.
--
-- Roles that an operator grants to logins. They call functions and have no privileges on tables that hold memories:
--
-- pgrecall_reader    recalls, and evaluates recall
-- pgrecall_writer    a reader that also remembers, updates, supersedes, forgets and judges
-- pgrecall_embedder  claims pending memories and stores their embeddings, names and facts
-- pgrecall_admin     a writer that calls every function and sees every row of every table; owns nothing, and changes no row
--                    that decides or proves something
-- pgrecall_everywhere  sees every namespace; gives no functions by itself
--
-- Roles that own functions and have no members:
--
-- pgrecall_gate      owns the functions that clients call; row-level security (tenancy/policies.sql) limits it to the
--                    caller's rows
-- pgrecall_engine    owns the functions that docs/tenants.md lists; sees every row; no tenant calls its functions
--
-- A function in schema public or pgrecall is public: its file ends with a GRANT that names the roles that may call it.
-- Without a GRANT only administrators may call it. A function in schema _pgrecall is internal: no client may call it.
-- No function runs with the rights of the role that installed it.
REVOKE ALL ON ALL ROUTINES IN SCHEMA pgrecall, _pgrecall FROM PUBLIC;
-- The installer grants CREATE temporarily, to make these roles owners of functions.
REVOKE ALL ON SCHEMA pgrecall, _pgrecall FROM pgrecall_gate, pgrecall_engine;

GRANT USAGE ON SCHEMA pgrecall TO pgrecall_reader, pgrecall_embedder, pgrecall_gate, pgrecall_engine;
GRANT USAGE ON SCHEMA _pgrecall TO pgrecall_gate, pgrecall_engine, pgrecall_admin;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA pgrecall, _pgrecall TO pgrecall_gate, pgrecall_engine, pgrecall_admin;

-- Configuration, which belongs to no tenant.
GRANT SELECT ON
    pgrecall.alembic_version, pgrecall.embedding_models, pgrecall.generations, pgrecall.installation,
    pgrecall.profile_definitions, pgrecall.profiles, pgrecall.setting_definitions, pgrecall.settings,
    pgrecall.settings_in_force, pgrecall.settings_reference
    TO pgrecall_reader, pgrecall_embedder;

-- The policies limit the gate to the caller's rows.
GRANT SELECT ON ALL TABLES IN SCHEMA pgrecall TO pgrecall_gate;
GRANT INSERT, UPDATE ON pgrecall.memories TO pgrecall_gate;
GRANT INSERT, DELETE ON pgrecall.memory_changes TO pgrecall_gate;
GRANT INSERT ON pgrecall.retention TO pgrecall_gate;
GRANT INSERT (name, language), UPDATE (languages) ON pgrecall.namespaces TO pgrecall_gate;
GRANT INSERT, UPDATE, DELETE ON
    pgrecall.concept_aliases, pgrecall.concept_merges, pgrecall.concepts, pgrecall.curation_jobs, pgrecall.curations,
    pgrecall.embedding_failures, pgrecall.embedding_jobs, pgrecall.extractions, pgrecall.judged_queries,
    pgrecall.judged_vectors, pgrecall.judgements, pgrecall.learned_settings, pgrecall.llm_answers,
    pgrecall.locks, pgrecall.llm_usage, pgrecall.mentions,
    pgrecall.passages, pgrecall.query_embeddings, pgrecall.query_expansions, pgrecall.relation_labels, pgrecall.relationship_evidence,
    pgrecall.relationships, pgrecall.temporal_refs, pgrecall.truncated_embeddings, pgrecall.workers
    TO pgrecall_gate;
GRANT INSERT, UPDATE (is_stated) ON pgrecall.note_evidence TO pgrecall_gate;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA pgrecall TO pgrecall_gate;

-- The engine sees and changes every row. Administrators see every row, and change what tenants and embedders change
-- through their functions. Rows that decide something (the installation, revisions, generations, grants, settings) or
-- that prove something (history, receipts) are written by functions alone.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA pgrecall TO pgrecall_engine;
GRANT SELECT ON ALL TABLES IN SCHEMA pgrecall TO pgrecall_admin;
-- What triggers on memories write.
GRANT UPDATE (languages) ON pgrecall.namespaces TO pgrecall_admin;
GRANT UPDATE (is_stated) ON pgrecall.note_evidence TO pgrecall_admin;
DO $administrators$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT c.oid::regclass AS name FROM pg_class c
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r'
          AND has_table_privilege('pgrecall_gate', c.oid, 'UPDATE')
    LOOP
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON %s TO pgrecall_admin', found.name);
    END LOOP;
END
$administrators$;
GRANT TRUNCATE ON pgrecall.term_stats, pgrecall.postings, pgrecall.pending_postings TO pgrecall_engine;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA pgrecall TO pgrecall_engine, pgrecall_admin;
