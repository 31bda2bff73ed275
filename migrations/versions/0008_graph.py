# ruff: noqa: E501 (lines of SQL)
"""The concept graph: names that belong to one concept, what was read from which memory, facts with their evidence."""

from alembic import op

from pgrecall.install import run_sql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

LONGEST_INLINE_VECTOR = 2000

# They read columns that change here, or return others now; the bundle makes them anew.
OLD_CODE = """
DROP FUNCTION IF EXISTS _pgrecall.query_facts(integer, text, pgrecall.recall_filter, integer);
DROP FUNCTION IF EXISTS pgrecall.hub_threshold(integer, pgrecall.recall_settings);
DROP FUNCTION IF EXISTS _pgrecall.query_concepts(integer, text);
DROP FUNCTION IF EXISTS _pgrecall.graph_walk(
    integer, bigint[], bigint[], double precision[], pgrecall.recall_filter, bigint[], integer, integer, integer, integer,
    double precision, integer, integer
);
DROP FUNCTION IF EXISTS _pgrecall.graph_step(bigint, integer, integer, integer);
DROP FUNCTION IF EXISTS _pgrecall.graph_leg(
    integer, bigint[], bigint[], double precision[], pgrecall.recall_filter, bigint[], integer, integer, pgrecall.recall_settings
);
DROP FUNCTION IF EXISTS _pgrecall.declared_concepts(bigint[]);
DROP FUNCTION IF EXISTS _pgrecall.remove_mentions(bigint, boolean);
DROP FUNCTION IF EXISTS pgrecall.health();
DROP FUNCTION IF EXISTS public.recall_status();
DROP FUNCTION IF EXISTS _pgrecall.remove_orphan_alias(bigint);
"""

# The graph leg draws memories up to what they are linked with, instead of adding a share of its own.
RANKING = """
ALTER TYPE pgrecall.recall_settings DROP ATTRIBUTE graph_neighbours, DROP ATTRIBUTE graph_df_min,
    DROP ATTRIBUTE graph_df_share, DROP ATTRIBUTE graph_df_floor;
ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE graph_mention double precision, ADD ATTRIBUTE graph_concepts integer;
ALTER TYPE pgrecall.recall_request DROP ATTRIBUTE df_max;
ALTER TYPE pgrecall.ranked ADD ATTRIBUTE graph_share double precision, ADD ATTRIBUTE graph_level double precision;
COMMENT ON COLUMN pgrecall.ranked.graph_level IS 'The score that concepts draw it to, graph_share of the way.';
DELETE FROM pgrecall.settings s
WHERE s.name IN ('graph_neighbours', 'graph_df_min', 'graph_df_share', 'graph_df_floor', 'graph_weight', 'hub_max_mentions');
"""

# Until now a name could be several concepts', of different types. Nothing of ours has made such, or names besides a
# concept's own, or mentions from elsewhere than tags and keywords; whatever has, the upgrade must not fail on it.
TWINS = """
DELETE FROM pgrecall.relationships;
DELETE FROM pgrecall.mentions m WHERE m.source NOT IN ('tag', 'keyword');
INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, confidence, source, span)
SELECT c.namespace_id, c.stays, m.memory_id, m.confidence, m.source, m.span
FROM (SELECT c.id, c.namespace_id, min(c.id) OVER (PARTITION BY c.namespace_id, c.key) AS stays FROM pgrecall.concepts c) c
JOIN pgrecall.mentions m ON m.concept_id = c.id
WHERE c.id <> c.stays
ON CONFLICT DO NOTHING;
DELETE FROM pgrecall.concepts c
USING pgrecall.concepts twin
WHERE twin.namespace_id = c.namespace_id AND twin.key = c.key AND twin.id < c.id;
DELETE FROM pgrecall.concepts c WHERE NOT EXISTS (SELECT FROM pgrecall.mentions m WHERE m.concept_id = c.id);
DELETE FROM pgrecall.concept_aliases a
USING pgrecall.concepts c
WHERE c.id = a.concept_id AND c.key <> a.alias AND (
    EXISTS (SELECT FROM pgrecall.concepts o WHERE o.namespace_id = a.namespace_id AND o.key = a.alias)
    OR EXISTS (SELECT FROM pgrecall.concept_aliases o
               WHERE o.namespace_id = a.namespace_id AND o.alias = a.alias AND o.concept_id < a.concept_id)
);
INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id)
SELECT c.namespace_id, c.key, c.id FROM pgrecall.concepts c
ON CONFLICT DO NOTHING;
"""

# A name belongs to one concept. What mentions a name, or states a fact of it, points to both, and follows the name when
# it is moved to another concept: a merge and a split are one update each, and the database keeps them true.
CONCEPTS = """
ALTER TABLE pgrecall.concepts DROP CONSTRAINT concepts_namespace_id_key_type_key;
ALTER TABLE pgrecall.concepts ALTER COLUMN key TYPE text COLLATE "C";
ALTER TABLE pgrecall.concepts ADD CONSTRAINT concepts_namespace_id_key_key UNIQUE (namespace_id, key);
ALTER TABLE pgrecall.concepts ADD COLUMN type_confidence real NOT NULL DEFAULT 0 CHECK (type_confidence BETWEEN 0 AND 1);
ALTER TABLE pgrecall.concepts ADD COLUMN resolved_at timestamptz;
ALTER TABLE pgrecall.concepts ADD COLUMN embedding pgvector.halfvec(%(dimension)s);
ALTER TABLE pgrecall.concepts ALTER COLUMN embedding SET STORAGE %(storage)s;
CREATE INDEX concepts_unresolved_idx ON pgrecall.concepts (id) WHERE resolved_at IS NULL;
CREATE INDEX concepts_unembedded_idx ON pgrecall.concepts (id) WHERE embedding IS NULL;
CREATE INDEX concepts_embedding_idx ON pgrecall.concepts USING hnsw (embedding pgvector.halfvec_cosine_ops);
COMMENT ON COLUMN pgrecall.concepts.key IS 'The normalised name (pgrecall.normalize_name), one of its aliases.';
COMMENT ON COLUMN pgrecall.concepts.type IS 'What it is: PERSON, ORG, PLACE, PROJECT, TECHNOLOGY, FILE, CONCEPT, or a type of the namespace''s own.';
COMMENT ON COLUMN pgrecall.concepts.type_confidence IS 'How sure the surest mention was of the type.';
COMMENT ON COLUMN pgrecall.concepts.resolved_at IS 'When it was compared with its neighbours; NULL: not yet.';
COMMENT ON COLUMN pgrecall.concepts.embedding IS 'Embedding of the name; NULL until an embedder fills it.';

ALTER TABLE pgrecall.concept_aliases ALTER COLUMN alias TYPE text COLLATE "C";
ALTER TABLE pgrecall.concept_aliases ADD COLUMN name text;
ALTER TABLE pgrecall.concept_aliases ADD COLUMN is_manual boolean NOT NULL DEFAULT false;
UPDATE pgrecall.concept_aliases a SET name = CASE WHEN a.alias = c.key THEN c.name ELSE a.alias END, is_manual = a.alias <> c.key
FROM pgrecall.concepts c WHERE c.id = a.concept_id;
ALTER TABLE pgrecall.concept_aliases ALTER COLUMN name SET NOT NULL;
ALTER TABLE pgrecall.concept_aliases ADD CONSTRAINT concept_aliases_namespace_id_alias_key UNIQUE (namespace_id, alias);
COMMENT ON TABLE pgrecall.concept_aliases IS
    'Normalised names, each of one concept; queries look concepts up here. A name that nothing mentions goes, unless it is manual.';
COMMENT ON COLUMN pgrecall.concept_aliases.name IS 'The name as it was first written.';
COMMENT ON COLUMN pgrecall.concept_aliases.is_manual IS 'Given by hand: stays though nothing mentions it.';

CREATE TABLE pgrecall.concept_merges (
    id           bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    namespace_id integer NOT NULL REFERENCES pgrecall.namespaces (id),
    concept_id   bigint NOT NULL,
    merged_at    timestamptz NOT NULL DEFAULT now(),
    split_at     timestamptz,
    similarity   real,
    type         text NOT NULL,
    method       text NOT NULL,
    key          text COLLATE "C" NOT NULL,
    into_key     text COLLATE "C" NOT NULL,
    aliases      text[] COLLATE "C" NOT NULL,
    FOREIGN KEY (namespace_id, concept_id) REFERENCES pgrecall.concepts (namespace_id, id) ON DELETE CASCADE
);
CREATE INDEX concept_merges_concept_idx ON pgrecall.concept_merges (concept_id);
CREATE INDEX concept_merges_key_idx ON pgrecall.concept_merges (namespace_id, key);
CREATE INDEX concept_merges_into_key_idx ON pgrecall.concept_merges (namespace_id, into_key);
COMMENT ON TABLE pgrecall.concept_merges IS
    'Which concepts were taken for one, why, and with which names: what split_concept() takes back. Split ones are not merged again.';
COMMENT ON COLUMN pgrecall.concept_merges.concept_id IS 'The concept that stayed.';
COMMENT ON COLUMN pgrecall.concept_merges.key IS 'The normalised name of the one that was merged into it.';
COMMENT ON COLUMN pgrecall.concept_merges.into_key IS 'The normalised name of the one that stayed, as it was then.';
COMMENT ON COLUMN pgrecall.concept_merges.type IS 'What the one that was merged had been taken for.';
COMMENT ON COLUMN pgrecall.concept_merges.method IS 'name, trigram, embedding, llm or manual.';
COMMENT ON COLUMN pgrecall.concept_merges.aliases IS 'The names that came with it and are still there; of a split one its key alone.';
"""

MENTIONS = """
ALTER TABLE pgrecall.mentions ADD COLUMN alias text COLLATE "C";
ALTER TABLE pgrecall.mentions ADD COLUMN type text;
ALTER TABLE pgrecall.mentions ADD COLUMN is_about boolean NOT NULL DEFAULT false;
UPDATE pgrecall.mentions m SET alias = c.key FROM pgrecall.concepts c WHERE c.id = m.concept_id;
ALTER TABLE pgrecall.mentions ALTER COLUMN alias SET NOT NULL;
ALTER TABLE pgrecall.mentions DROP CONSTRAINT mentions_pkey;
ALTER TABLE pgrecall.mentions ADD CONSTRAINT mentions_pkey PRIMARY KEY (memory_id, alias, source) INCLUDE (concept_id, is_about);
ALTER TABLE pgrecall.mentions DROP CONSTRAINT mentions_namespace_id_concept_id_fkey;
ALTER TABLE pgrecall.mentions ADD CONSTRAINT mentions_alias_fkey FOREIGN KEY (namespace_id, alias, concept_id)
    REFERENCES pgrecall.concept_aliases (namespace_id, alias, concept_id) ON UPDATE CASCADE;
DROP INDEX pgrecall.mentions_memory_idx;
CREATE INDEX mentions_concept_idx ON pgrecall.mentions (concept_id, is_about DESC, memory_id DESC);
COMMENT ON INDEX pgrecall.mentions_concept_idx IS 'The walk of the graph leg: the memories about a concept first, then the newest that mention it.';
COMMENT ON COLUMN pgrecall.mentions.alias IS 'The normalised name it is mentioned by.';
COMMENT ON COLUMN pgrecall.mentions.type IS 'What the mention was taken for; NULL: tags and keywords do not say.';
CREATE TYPE pgrecall.naming AS (namespace_id integer, alias text, name text);
COMMENT ON TYPE pgrecall.naming IS 'A name in a namespace: normalised, and as it was written.';
COMMENT ON COLUMN pgrecall.mentions.is_about IS 'The memory is about the concept: it is its title or its subject.';
"""

EXTRACTIONS = """
CREATE TABLE pgrecall.extractions (
    memory_id        bigint NOT NULL REFERENCES pgrecall.memories (id) ON DELETE CASCADE,
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
    PRIMARY KEY (memory_id, enricher)
);
CREATE INDEX extractions_pending_idx ON pgrecall.extractions (enricher, memory_id) WHERE is_pending;
CREATE INDEX extractions_worker_idx ON pgrecall.extractions (worker_id) WHERE worker_id IS NOT NULL;
CREATE SEQUENCE pgrecall.extraction_tickets;
COMMENT ON TABLE pgrecall.extractions IS
    'Which memory was read for names, times and facts by which version, and which wait for it. Sensitive and forgotten memories have no row.';
COMMENT ON COLUMN pgrecall.extractions.enricher IS 'text (no language model), or llm where that is switched on.';
COMMENT ON COLUMN pgrecall.extractions.ticket IS
    'Of the claim in hand; what is read from an older text has a ticket that does not count any more.';
COMMENT ON COLUMN pgrecall.extractions.waiting_since IS 'Since when it is to be read, or was when it was read last.';
COMMENT ON COLUMN pgrecall.extractions.version IS 'Of the extractor, its models and its settings, as it was last read.';
COMMENT ON SEQUENCE pgrecall.extraction_tickets IS 'Tickets of claims (pgrecall.claim_extractions).';
-- Everything that is there is to be read.
INSERT INTO pgrecall.extractions (memory_id, enricher)
SELECT m.id, 'text' FROM pgrecall.memories m WHERE NOT m.is_sensitive AND m.deleted_at IS NULL;

CREATE TABLE pgrecall.entity_rules (
    namespace_id integer REFERENCES pgrecall.namespaces (id),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    type         text NOT NULL CHECK (type ~ '^[A-Z][A-Z0-9_]{0,39}$'),
    keywords     text[] NOT NULL DEFAULT '{}',
    patterns     text[] NOT NULL DEFAULT '{}',
    CONSTRAINT entity_rules_key UNIQUE NULLS NOT DISTINCT (namespace_id, type)
);
COMMENT ON TABLE pgrecall.entity_rules IS
    'Names and regular expressions that mark an entity of a type, for one namespace or (NULL) for all. Write with pgrecall.set_entity_rules().';

ALTER TABLE pgrecall.temporal_refs ADD COLUMN confidence real NOT NULL DEFAULT 0.8 CHECK (confidence BETWEEN 0 AND 1);
ALTER TABLE pgrecall.temporal_refs ADD COLUMN granularity text;
ALTER TABLE pgrecall.temporal_refs ADD COLUMN source text NOT NULL DEFAULT 'trigger';
COMMENT ON COLUMN pgrecall.temporal_refs.granularity IS 'The unit that the words name: minute, hour, day, week, month, quarter, year.';
COMMENT ON COLUMN pgrecall.temporal_refs.source IS 'What read it: trigger (when it was stored), pattern or dateparser (by an extraction).';
"""

FACTS = """
ALTER TABLE pgrecall.relationships DROP CONSTRAINT relationships_namespace_id_source_id_fkey;
ALTER TABLE pgrecall.relationships DROP CONSTRAINT relationships_namespace_id_target_id_fkey;
ALTER TABLE pgrecall.relationships ADD COLUMN superseded_at timestamptz;
ALTER TABLE pgrecall.relationships ADD COLUMN superseded_by bigint REFERENCES pgrecall.relationships (id) ON DELETE SET NULL;
ALTER TABLE pgrecall.relationships ADD COLUMN is_exclusive boolean NOT NULL DEFAULT false;
ALTER TABLE pgrecall.relationships ADD COLUMN source_alias text COLLATE "C" NOT NULL;
ALTER TABLE pgrecall.relationships ADD COLUMN target_alias text COLLATE "C" NOT NULL;
ALTER TABLE pgrecall.relationships ADD CONSTRAINT relationships_source_fkey FOREIGN KEY (namespace_id, source_alias, source_id)
    REFERENCES pgrecall.concept_aliases (namespace_id, alias, concept_id) ON UPDATE CASCADE;
ALTER TABLE pgrecall.relationships ADD CONSTRAINT relationships_target_fkey FOREIGN KEY (namespace_id, target_alias, target_id)
    REFERENCES pgrecall.concept_aliases (namespace_id, alias, concept_id) ON UPDATE CASCADE;
DROP INDEX pgrecall.relationships_source_idx;
DROP INDEX pgrecall.relationships_target_idx;
CREATE INDEX relationships_source_idx ON pgrecall.relationships (source_id, label, target_id);
CREATE INDEX relationships_target_idx ON pgrecall.relationships (target_id, label, source_id);
CREATE INDEX relationships_newest_source_idx ON pgrecall.relationships (source_id, id);
CREATE INDEX relationships_newest_target_idx ON pgrecall.relationships (target_id, id);
CREATE INDEX relationships_label_idx ON pgrecall.relationships (namespace_id, label);
CREATE INDEX relationships_exclusive_idx ON pgrecall.relationships (source_id, label) WHERE is_exclusive;
CREATE UNIQUE INDEX relationships_open_key ON pgrecall.relationships (source_alias, label, target_alias, namespace_id)
    WHERE valid_to IS NULL;
COMMENT ON INDEX pgrecall.relationships_open_key IS 'What holds without an end is one relationship, whoever is storing it.';
CREATE INDEX relationships_superseded_by_idx ON pgrecall.relationships (superseded_by) WHERE superseded_by IS NOT NULL;
COMMENT ON COLUMN pgrecall.relationships.label IS 'What relates them, in canonical words: works at, capital of.';
COMMENT ON COLUMN pgrecall.relationships.source_alias IS 'The normalised name it was stated of.';
COMMENT ON COLUMN pgrecall.relationships.target_alias IS 'The normalised name it leads to, as it was stated.';
COMMENT ON COLUMN pgrecall.relationships.superseded_at IS 'When what contradicts it was recorded; valid_to says since when it does not hold.';
COMMENT ON COLUMN pgrecall.relationships.superseded_by IS 'The relationship that contradicts it; without that one it holds again.';
COMMENT ON COLUMN pgrecall.relationships.is_exclusive IS 'Evidence says that the subject has no other object by this label at the time.';
COMMENT ON COLUMN pgrecall.relationships.recorded_at IS 'When its first evidence was recorded; valid_from and valid_to say when it was true.';
COMMENT ON COLUMN pgrecall.relationships.weight IS 'How sure it is, all evidence together.';

ALTER TABLE pgrecall.relationship_evidence ADD COLUMN confidence real NOT NULL DEFAULT 1 CHECK (confidence BETWEEN 0 AND 1);
ALTER TABLE pgrecall.relationship_evidence ADD COLUMN source text NOT NULL DEFAULT 'pattern';
ALTER TABLE pgrecall.relationship_evidence ADD COLUMN statement text;
ALTER TABLE pgrecall.relationship_evidence DROP CONSTRAINT relationship_evidence_pkey;
-- What was stated, for what holds is made of it: relationships are put together anew when evidence, names or labels change.
ALTER TABLE pgrecall.relationship_evidence ADD COLUMN id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY;
ALTER TABLE pgrecall.relationship_evidence ADD COLUMN valid_from timestamptz;
ALTER TABLE pgrecall.relationship_evidence ADD COLUMN valid_to timestamptz;
ALTER TABLE pgrecall.relationship_evidence ADD COLUMN is_exclusive boolean NOT NULL DEFAULT false;
ALTER TABLE pgrecall.relationship_evidence ADD COLUMN label text;
ALTER TABLE pgrecall.relationship_evidence ADD CONSTRAINT relationship_evidence_key
    UNIQUE NULLS NOT DISTINCT (relationship_id, memory_id, source, label, valid_from, valid_to);
DROP INDEX pgrecall.relationship_evidence_memory_idx;
CREATE INDEX relationship_evidence_memory_idx ON pgrecall.relationship_evidence (memory_id, relationship_id);
COMMENT ON COLUMN pgrecall.relationship_evidence.label IS 'As it was stated; NULL: as the relationship has it.';
COMMENT ON COLUMN pgrecall.relationship_evidence.valid_from IS 'Since when it is true, as it was stated; NULL: not said.';
COMMENT ON COLUMN pgrecall.relationship_evidence.valid_to IS 'Until when it is true, as it was stated; NULL: not said.';
COMMENT ON COLUMN pgrecall.relationship_evidence.is_exclusive IS 'It contradicts other objects of the same subject and label.';
CREATE TYPE pgrecall.fact_statement AS (
    place integer, id bigint, relationship_id bigint, memory_id bigint, target_id bigint, source_alias text, target_alias text,
    begins timestamptz, valid_from timestamptz, valid_to timestamptz, recorded_at timestamptz, is_exclusive boolean, confidence real
);
COMMENT ON TYPE pgrecall.fact_statement IS 'A row of evidence as _pgrecall.rebuild_validity() looks at it; place is its place in time.';
COMMENT ON COLUMN pgrecall.relationship_evidence.source IS 'What read it there: pattern or llm.';
COMMENT ON COLUMN pgrecall.relationship_evidence.statement IS 'The fact in one sentence, as this memory states it; NULL: names and label say it.';

CREATE TABLE pgrecall.relation_labels (
    namespace_id integer NOT NULL REFERENCES pgrecall.namespaces (id),
    decided_at   timestamptz NOT NULL DEFAULT now(),
    similarity   real,
    alias        text COLLATE "C" NOT NULL CHECK (alias <> ''),
    label        text COLLATE "C" NOT NULL CHECK (label <> ''),
    method       text NOT NULL,
    PRIMARY KEY (namespace_id, alias)
);
COMMENT ON TABLE pgrecall.relation_labels IS 'Labels as they were stated, each with the canonical one it stands for, and who decided that.';
COMMENT ON COLUMN pgrecall.relation_labels.method IS 'rule, embedding or llm.';

CREATE TABLE pgrecall.llm_answers (
    key        bytea NOT NULL,
    memory_id  bigint NOT NULL REFERENCES pgrecall.memories (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    answer     jsonb NOT NULL,
    PRIMARY KEY (key, memory_id)
);
CREATE INDEX llm_answers_memory_idx ON pgrecall.llm_answers (memory_id);
COMMENT ON TABLE pgrecall.llm_answers IS
    'What a language model answered about a memory, by model, prompt and text; it goes when the memory changes, is sensitive or forgotten.';

CREATE TABLE pgrecall.llm_usage (
    day               date NOT NULL DEFAULT CURRENT_DATE,
    model             text NOT NULL,
    requests          bigint NOT NULL DEFAULT 0,
    prompt_tokens     bigint NOT NULL DEFAULT 0,
    completion_tokens bigint NOT NULL DEFAULT 0,
    cost              numeric,
    PRIMARY KEY (day, model)
);
COMMENT ON TABLE pgrecall.llm_usage IS 'What language models were asked, a day and a model each.';
COMMENT ON COLUMN pgrecall.llm_usage.cost IS 'By the prices the embedder was given; NULL: not known.';
-- Here and not beside the policies: a table of user data is never without it, whichever code is installed.
ALTER TABLE pgrecall.llm_answers ENABLE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    connection = op.get_bind()
    dimension = connection.exec_driver_sql(
        "SELECT atttypmod FROM pg_attribute WHERE attrelid = 'pgrecall.memories'::regclass AND attname = 'embedding'"
    ).scalar_one()
    run_sql(connection, OLD_CODE)
    run_sql(connection, TWINS)
    run_sql(
        connection,
        CONCEPTS
        % {"dimension": dimension, "storage": "PLAIN" if dimension <= LONGEST_INLINE_VECTOR else "EXTERNAL"},
    )
    run_sql(connection, MENTIONS)
    run_sql(connection, EXTRACTIONS)
    run_sql(connection, FACTS)
    run_sql(connection, RANKING)


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.ranked DROP ATTRIBUTE graph_share, DROP ATTRIBUTE graph_level;
        ALTER TYPE pgrecall.recall_request ADD ATTRIBUTE df_max integer;
        ALTER TYPE pgrecall.recall_settings DROP ATTRIBUTE graph_mention, DROP ATTRIBUTE graph_concepts;
        ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE graph_neighbours integer, ADD ATTRIBUTE graph_df_min integer,
            ADD ATTRIBUTE graph_df_share double precision, ADD ATTRIBUTE graph_df_floor integer;

        DROP TABLE pgrecall.llm_usage, pgrecall.llm_answers, pgrecall.relation_labels, pgrecall.entity_rules,
            pgrecall.extractions, pgrecall.concept_merges;
        DROP SEQUENCE pgrecall.extraction_tickets;
        DROP TYPE pgrecall.naming, pgrecall.fact_statement;

        DELETE FROM pgrecall.relationships;
        ALTER TABLE pgrecall.relationship_evidence DROP CONSTRAINT relationship_evidence_key;
        ALTER TABLE pgrecall.relationship_evidence DROP CONSTRAINT relationship_evidence_pkey;
        ALTER TABLE pgrecall.relationship_evidence DROP COLUMN id, DROP COLUMN confidence, DROP COLUMN source,
            DROP COLUMN statement, DROP COLUMN valid_from, DROP COLUMN valid_to, DROP COLUMN is_exclusive, DROP COLUMN label;
        ALTER TABLE pgrecall.relationship_evidence ADD CONSTRAINT relationship_evidence_pkey PRIMARY KEY (relationship_id, memory_id);
        DROP INDEX pgrecall.relationship_evidence_memory_idx;
        CREATE INDEX relationship_evidence_memory_idx ON pgrecall.relationship_evidence (memory_id);
        DROP INDEX pgrecall.relationships_newest_source_idx, pgrecall.relationships_newest_target_idx,
            pgrecall.relationships_label_idx, pgrecall.relationships_exclusive_idx, pgrecall.relationships_open_key;
        ALTER TABLE pgrecall.relationships DROP COLUMN superseded_at, DROP COLUMN superseded_by, DROP COLUMN source_alias,
            DROP COLUMN target_alias, DROP COLUMN is_exclusive;
        COMMENT ON COLUMN pgrecall.relationships.recorded_at IS 'When it was learnt; valid_from and valid_to say when it was true.';
        COMMENT ON COLUMN pgrecall.relationships.label IS NULL;
        COMMENT ON COLUMN pgrecall.relationships.weight IS NULL;
        ALTER TABLE pgrecall.relationships ADD CONSTRAINT relationships_namespace_id_source_id_fkey
            FOREIGN KEY (namespace_id, source_id) REFERENCES pgrecall.concepts (namespace_id, id) ON DELETE CASCADE;
        ALTER TABLE pgrecall.relationships ADD CONSTRAINT relationships_namespace_id_target_id_fkey
            FOREIGN KEY (namespace_id, target_id) REFERENCES pgrecall.concepts (namespace_id, id) ON DELETE CASCADE;
        DROP INDEX pgrecall.relationships_source_idx, pgrecall.relationships_target_idx;
        CREATE INDEX relationships_source_idx ON pgrecall.relationships (source_id);
        CREATE INDEX relationships_target_idx ON pgrecall.relationships (target_id);

        DELETE FROM pgrecall.temporal_refs r WHERE r.source <> 'trigger';
        ALTER TABLE pgrecall.temporal_refs DROP COLUMN confidence, DROP COLUMN granularity, DROP COLUMN source;

        -- What was merged is parted: each name that a tag or keyword says is a concept of its own, as it will be told again.
        DELETE FROM pgrecall.mentions m WHERE m.source NOT IN ('tag', 'keyword');
        INSERT INTO pgrecall.concepts (namespace_id, key, name)
        SELECT a.namespace_id, a.alias, a.name
        FROM pgrecall.concept_aliases a
        JOIN pgrecall.concepts c ON c.id = a.concept_id
        WHERE a.alias <> c.key AND EXISTS (
            SELECT FROM pgrecall.mentions m WHERE m.concept_id = c.id AND m.alias = a.alias
        );
        UPDATE pgrecall.concept_aliases a SET concept_id = c.id
        FROM pgrecall.concepts c
        WHERE c.namespace_id = a.namespace_id AND c.key = a.alias AND a.concept_id <> c.id;
        ALTER TABLE pgrecall.mentions DROP CONSTRAINT mentions_alias_fkey;
        DELETE FROM pgrecall.concepts c WHERE NOT EXISTS (SELECT FROM pgrecall.mentions m WHERE m.concept_id = c.id);
        ALTER TABLE pgrecall.mentions DROP CONSTRAINT mentions_pkey;
        DROP INDEX pgrecall.mentions_concept_idx;
        ALTER TABLE pgrecall.mentions DROP COLUMN alias, DROP COLUMN type, DROP COLUMN is_about;
        ALTER TABLE pgrecall.mentions ADD CONSTRAINT mentions_pkey PRIMARY KEY (concept_id, memory_id, source);
        CREATE INDEX mentions_memory_idx ON pgrecall.mentions (memory_id, concept_id);
        ALTER TABLE pgrecall.mentions ADD CONSTRAINT mentions_namespace_id_concept_id_fkey
            FOREIGN KEY (namespace_id, concept_id) REFERENCES pgrecall.concepts (namespace_id, id) ON DELETE CASCADE;

        UPDATE pgrecall.concepts c SET type = 'CONCEPT' WHERE c.type <> 'CONCEPT';
        ALTER TABLE pgrecall.concept_aliases DROP CONSTRAINT concept_aliases_namespace_id_alias_key;
        ALTER TABLE pgrecall.concept_aliases DROP COLUMN name, DROP COLUMN is_manual;
        ALTER TABLE pgrecall.concept_aliases ALTER COLUMN alias TYPE text COLLATE "default";
        DROP INDEX pgrecall.concepts_unresolved_idx, pgrecall.concepts_unembedded_idx, pgrecall.concepts_embedding_idx;
        ALTER TABLE pgrecall.concepts DROP COLUMN type_confidence, DROP COLUMN resolved_at, DROP COLUMN embedding;
        ALTER TABLE pgrecall.concepts DROP CONSTRAINT concepts_namespace_id_key_key;
        ALTER TABLE pgrecall.concepts ALTER COLUMN key TYPE text COLLATE "default";
        ALTER TABLE pgrecall.concepts ADD CONSTRAINT concepts_namespace_id_key_type_key UNIQUE (namespace_id, key, type);
        """,
    )
