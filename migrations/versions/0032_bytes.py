"""Mentions and relationships name their alias by a number, and what found a mention by a label of an enum."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

TABLES = ", ".join(
    f"pgrecall.{table}" for table in ("memories", "concepts", "concept_aliases", "mentions", "relationships")
)
# Whoever writes memories or names has ended, or waits until this is done. Readers read on until the tables
# are exchanged.
LOCK = f"LOCK TABLE {TABLES} IN SHARE ROW EXCLUSIVE MODE"
SOURCES = (
    "tag", "keyword", "path", "url", "handle", "identifier", "issue", "version", "listed", "pattern",
    "phrase", "spacy", "title", "speaker", "llm", "other",
)  # fmt: skip

# A parsed body holds on to the tables it reads. A body that is text does the same and holds on to nothing,
# nor does a view of empty columns; both are replaced with the code, and what users made of them stays.
WITHOUT_READERS = """
DO $readers$
DECLARE
    found record;
BEGIN
    PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR found IN
        SELECT pg_get_functiondef(p.oid) AS definition, pg_get_function_sqlbody(p.oid) AS body
        FROM pg_proc p
        WHERE p.prosqlbody IS NOT NULL AND p.oid IN (
            SELECT d.objid FROM pg_depend d
            WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_class'::regclass
              AND d.refobjid IN (
                  'pgrecall.concept_aliases'::regclass, 'pgrecall.mentions'::regclass,
                  'pgrecall.relationships'::regclass
              )
        )
    LOOP
        EXECUTE replace(
            found.definition, found.body,
            'AS ' || quote_literal(
                CASE WHEN found.body ~ '^RETURN' THEN 'SELECT ' || substr(found.body, 8)
                     ELSE regexp_replace(found.body, '^BEGIN ATOMIC|END$', '', 'g') END
            )
        );
    END LOOP;
    -- A new database has its code later.
    IF to_regclass('pgrecall.concept_overview') IS NULL THEN
        RETURN;
    END IF;
    EXECUTE (
        SELECT 'CREATE OR REPLACE VIEW pgrecall.concept_overview WITH (security_invoker = true) AS SELECT '
               || string_agg(format(
                   'NULL::%s%s AS %I', format_type(a.atttypid, a.atttypmod),
                   ' COLLATE ' || quote_ident(n.nspname) || '.' || quote_ident(c.collname), a.attname
               ), ', ' ORDER BY a.attnum)
        FROM pg_attribute a
        LEFT JOIN pg_collation c ON c.oid = a.attcollation
        LEFT JOIN pg_namespace n ON n.oid = c.collnamespace
        WHERE a.attrelid = 'pgrecall.concept_overview'::regclass
    );
END
$readers$;
"""

# Until the code is installed, the new tables are read with the rights that the old ones had.
SAME_RIGHTS = """
DO $rights$
DECLARE
    statement text;
BEGIN
    PERFORM set_config('search_path', 'pg_catalog, pg_temp', true);
    FOR statement IN
        SELECT format('GRANT %s ON _pgrecall.%I TO %s', x.privilege_type, c.relname,
                      CASE WHEN x.grantee = 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END)
        FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) x
        WHERE c.oid IN ('pgrecall.concept_aliases'::regclass, 'pgrecall.mentions'::regclass)
          AND x.grantee <> c.relowner
        UNION ALL
        SELECT format(
            'CREATE POLICY %I ON _pgrecall.%I FOR %s TO %s%s%s', p.policyname, p.tablename, p.cmd, r.names,
            ' USING (' || p.qual || ')', ' WITH CHECK (' || p.with_check || ')'
        )
        FROM pg_policies p
        CROSS JOIN LATERAL (SELECT string_agg(quote_ident(n), ', ') FROM unnest(p.roles) n) r (names)
        WHERE p.schemaname = 'pgrecall' AND p.tablename IN ('concept_aliases', 'mentions')
    LOOP
        EXECUTE statement;
    END LOOP;
END
$rights$;
"""
# All at once or none: who waited for one with another in hand would block a reader that has the one and
# wants the other. To drop a table locks those that its foreign keys name. Where readers leave no gap for two
# seconds, they wait.
KEEP_READERS_OUT = f"""
DO $lock$
BEGIN
    FOR attempt IN 1 .. 100 LOOP
        BEGIN
            LOCK TABLE {TABLES} IN ACCESS EXCLUSIVE MODE NOWAIT;
            RETURN;
        EXCEPTION
            WHEN lock_not_available THEN
                PERFORM pg_sleep(0.02);
        END;
    END LOOP;
    LOCK TABLE {TABLES} IN ACCESS EXCLUSIVE MODE;
END
$lock$;
"""


def _prepare() -> None:
    """Leave nothing that holds on to the tables, and let nobody read them."""
    connection = op.get_bind()
    path = connection.exec_driver_sql("SHOW search_path").scalar()
    run_sql(connection, SAME_RIGHTS)
    run_sql(connection, KEEP_READERS_OUT)
    run_sql(connection, WITHOUT_READERS)
    connection.exec_driver_sql("SELECT set_config('search_path', %s, true)", (path,))


# New tables beside the old ones, whose names they take at the end: rewritten in place, they would keep
# readers out from the beginning, and every row would have room for the columns that are gone.
FILL = f"""
CREATE TYPE pgrecall.mention_source AS ENUM ({", ".join(f"'{source}'" for source in SOURCES)});
COMMENT ON TYPE pgrecall.mention_source IS
    'What found a mention: a tag, a keyword, an enricher of the extraction, a language model, or another.';

CREATE TABLE _pgrecall.concept_aliases (
    concept_id   bigint NOT NULL,
    namespace_id integer NOT NULL,
    id           integer NOT NULL GENERATED ALWAYS AS IDENTITY,
    is_manual    boolean NOT NULL DEFAULT false,
    alias        text COLLATE "C" NOT NULL
        CONSTRAINT concept_aliases_alias_check CHECK (alias <> '')
        CONSTRAINT concept_aliases_alias_size CHECK (octet_length(alias) <= 16384),
    name         text NOT NULL CONSTRAINT concept_aliases_name_size CHECK (octet_length(name) <= 16384)
);
INSERT INTO _pgrecall.concept_aliases (concept_id, namespace_id, is_manual, alias, name)
SELECT a.concept_id, a.namespace_id, a.is_manual, a.alias, a.name FROM pgrecall.concept_aliases a
ORDER BY a.concept_id, a.alias;
ALTER TABLE _pgrecall.concept_aliases
    ADD CONSTRAINT concept_aliases_pkey PRIMARY KEY (namespace_id, alias),
    -- The concept first: its names are found by it, and a merge moves what refers to them.
    ADD CONSTRAINT concept_aliases_concept_id_id_key UNIQUE (concept_id, id, namespace_id),
    ADD CONSTRAINT concept_aliases_namespace_id_concept_id_fkey
        FOREIGN KEY (namespace_id, concept_id)
        REFERENCES pgrecall.concepts (namespace_id, id) ON DELETE CASCADE;
ALTER TABLE _pgrecall.concept_aliases ALTER alias SET STATISTICS 0, ALTER name SET STATISTICS 0;
ALTER TABLE _pgrecall.concept_aliases ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE _pgrecall.concept_aliases IS
    'Normalised names, each of one concept; queries find concepts by them. An unmentioned alias '
    'is removed, unless it is manual.';
COMMENT ON COLUMN _pgrecall.concept_aliases.id IS 'Names the alias together with its concept.';
COMMENT ON COLUMN _pgrecall.concept_aliases.name IS 'The name as first written.';
COMMENT ON COLUMN _pgrecall.concept_aliases.is_manual IS 'Added manually: stays even if nothing mentions it.';
-- Not of an empty table: the planner would plan for no rows when there are thousands.
DO $$ BEGIN
    IF EXISTS (SELECT FROM _pgrecall.concept_aliases) THEN ANALYZE _pgrecall.concept_aliases; END IF;
END $$;

-- Eight columns: with more, a row with a NULL is eight bytes longer.
CREATE TABLE _pgrecall.mentions (
    memory_id    bigint NOT NULL,
    concept_id   integer NOT NULL,
    alias_id     integer NOT NULL,
    namespace_id integer NOT NULL,
    source       pgrecall.mention_source NOT NULL,
    confidence   real NOT NULL DEFAULT 1
        CONSTRAINT mentions_confidence_check CHECK (confidence >= 0 AND confidence <= 1),
    is_about     boolean NOT NULL DEFAULT false,
    type         text CONSTRAINT mentions_type_size CHECK (octet_length(type) <= 256)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
INSERT INTO _pgrecall.mentions
    (memory_id, concept_id, alias_id, namespace_id, source, confidence, is_about, type)
SELECT s.memory_id, s.concept_id, s.id, s.namespace_id, s.source::pgrecall.mention_source, s.confidence,
       s.is_about, s.type
FROM (
    SELECT DISTINCT ON (m.memory_id, a.id, found.source)
           m.memory_id, m.concept_id, a.id, m.namespace_id, found.source, m.confidence, m.is_about,
           NULLIF(m.type, 'CONCEPT') AS type
    FROM pgrecall.mentions m
    JOIN _pgrecall.concept_aliases a ON a.namespace_id = m.namespace_id AND a.alias = m.alias
    LEFT JOIN unnest(enum_range(NULL::pgrecall.mention_source)::text[]) known (source)
        ON known.source = m.source
    CROSS JOIN LATERAL (SELECT COALESCE(known.source, 'other') AS source) found
    ORDER BY m.memory_id, a.id, found.source, m.confidence DESC
) s;
ALTER TABLE _pgrecall.mentions
    ADD CONSTRAINT mentions_pkey PRIMARY KEY (memory_id, alias_id, source),
    ADD CONSTRAINT mentions_alias_fkey FOREIGN KEY (concept_id, alias_id, namespace_id)
        REFERENCES _pgrecall.concept_aliases (concept_id, id, namespace_id) ON UPDATE CASCADE,
    ADD CONSTRAINT mentions_memory_id_fkey FOREIGN KEY (memory_id)
        REFERENCES pgrecall.memories (id) ON DELETE CASCADE;
-- Read backwards: those about the concept first, then the newest. New ones come at the end of a concept's.
CREATE INDEX mentions_concept_idx ON _pgrecall.mentions (concept_id, is_about, memory_id);
ALTER TABLE _pgrecall.mentions ALTER type SET STATISTICS 0;
ALTER TABLE _pgrecall.mentions ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE _pgrecall.mentions IS 'Which memory mentions which concept, and what found the mention.';
COMMENT ON COLUMN _pgrecall.mentions.alias_id IS 'The name by which it mentions the concept.';
COMMENT ON COLUMN _pgrecall.mentions.source IS 'What found the mention.';
COMMENT ON COLUMN _pgrecall.mentions.type IS
    'The type found with the mention; NULL: none, or CONCEPT, the unspecific one.';
COMMENT ON COLUMN _pgrecall.mentions.is_about IS
    'The memory is about the concept: the concept is its title or subject.';
DO $$ BEGIN
    IF EXISTS (SELECT FROM _pgrecall.mentions) THEN ANALYZE _pgrecall.mentions; END IF;
END $$;
"""
EXCHANGE = """
ALTER TABLE pgrecall.relationships
    DROP CONSTRAINT relationships_source_fkey, DROP CONSTRAINT relationships_target_fkey,
    ADD source_alias_id integer, ADD target_alias_id integer;
UPDATE pgrecall.relationships r SET source_alias_id = s.id, target_alias_id = t.id
FROM _pgrecall.concept_aliases s, _pgrecall.concept_aliases t
WHERE s.namespace_id = r.namespace_id AND s.alias = r.source_alias
  AND t.namespace_id = r.namespace_id AND t.alias = r.target_alias;
DROP TABLE pgrecall.mentions, pgrecall.concept_aliases;
ALTER TABLE _pgrecall.concept_aliases SET SCHEMA pgrecall;
ALTER TABLE _pgrecall.mentions SET SCHEMA pgrecall;
ALTER TABLE pgrecall.relationships
    ALTER source_alias_id SET NOT NULL, ALTER target_alias_id SET NOT NULL,
    DROP source_alias, DROP target_alias,
    ADD CONSTRAINT relationships_source_fkey FOREIGN KEY (source_id, source_alias_id, namespace_id)
        REFERENCES pgrecall.concept_aliases (concept_id, id, namespace_id) ON UPDATE CASCADE,
    ADD CONSTRAINT relationships_target_fkey FOREIGN KEY (target_id, target_alias_id, namespace_id)
        REFERENCES pgrecall.concept_aliases (concept_id, id, namespace_id) ON UPDATE CASCADE;
CREATE UNIQUE INDEX relationships_open_key ON pgrecall.relationships (source_alias_id, label, target_alias_id)
    WHERE valid_to IS NULL;
COMMENT ON COLUMN pgrecall.relationships.source_alias_id IS 'The name with which the subject was stated.';
COMMENT ON COLUMN pgrecall.relationships.target_alias_id IS 'The name with which the object was stated.';
ALTER TYPE pgrecall.fact_statement RENAME ATTRIBUTE source_alias TO source_alias_id;
ALTER TYPE pgrecall.fact_statement RENAME ATTRIBUTE target_alias TO target_alias_id;
ALTER TYPE pgrecall.fact_statement ALTER ATTRIBUTE source_alias_id TYPE integer,
    ALTER ATTRIBUTE target_alias_id TYPE integer;
-- The key of a concept is one of its aliases, which are unique. Below a namespace the other key finds an id.
ALTER TABLE pgrecall.concepts DROP CONSTRAINT concepts_namespace_id_key_key;
-- IF EXISTS: where the migration is written as a script, an index is not built.
DROP INDEX IF EXISTS pgrecall.concepts_namespace_id_idx;
-- Mentions name concepts by four bytes.
ALTER TABLE pgrecall.concepts ALTER id SET MAXVALUE 2147483647;
"""


def upgrade() -> None:
    connection = op.get_bind()
    run_sql(connection, LOCK)
    run_sql(connection, FILL)
    _prepare()
    run_sql(connection, EXCHANGE)


# Where in the text a mention was, and the names of other enrichers, do not come back.
FILL_BACK = """
CREATE TABLE _pgrecall.concept_aliases (
    namespace_id integer NOT NULL,
    alias        text COLLATE "C" NOT NULL
        CONSTRAINT concept_aliases_alias_check CHECK (alias <> '')
        CONSTRAINT concept_aliases_alias_size CHECK (octet_length(alias) <= 16384),
    concept_id   bigint NOT NULL,
    name         text NOT NULL CONSTRAINT concept_aliases_name_size CHECK (octet_length(name) <= 16384),
    is_manual    boolean NOT NULL DEFAULT false
);
INSERT INTO _pgrecall.concept_aliases
SELECT a.namespace_id, a.alias, a.concept_id, a.name, a.is_manual FROM pgrecall.concept_aliases a;
ALTER TABLE _pgrecall.concept_aliases
    ADD CONSTRAINT concept_aliases_pkey PRIMARY KEY (namespace_id, alias, concept_id),
    ADD CONSTRAINT concept_aliases_namespace_id_alias_key UNIQUE (namespace_id, alias),
    ADD CONSTRAINT concept_aliases_namespace_id_concept_id_fkey
        FOREIGN KEY (namespace_id, concept_id)
        REFERENCES pgrecall.concepts (namespace_id, id) ON DELETE CASCADE;
CREATE INDEX concept_aliases_concept_idx ON _pgrecall.concept_aliases (concept_id);
ALTER TABLE _pgrecall.concept_aliases ALTER alias SET STATISTICS 0, ALTER name SET STATISTICS 0;
ALTER TABLE _pgrecall.concept_aliases ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE _pgrecall.concept_aliases IS
    'Normalised names, each of one concept; queries find concepts by them. An unmentioned alias '
    'is removed, unless it is manual.';
COMMENT ON COLUMN _pgrecall.concept_aliases.name IS 'The name as first written.';
COMMENT ON COLUMN _pgrecall.concept_aliases.is_manual IS 'Added manually: stays even if nothing mentions it.';

CREATE TABLE _pgrecall.mentions (
    concept_id   bigint NOT NULL,
    memory_id    bigint NOT NULL,
    namespace_id integer NOT NULL,
    confidence   real NOT NULL DEFAULT 1
        CONSTRAINT mentions_confidence_check CHECK (confidence >= 0 AND confidence <= 1),
    source       text NOT NULL CONSTRAINT mentions_source_size CHECK (octet_length(source) <= 256),
    span         int4range,
    alias        text COLLATE "C" NOT NULL,
    type         text CONSTRAINT mentions_type_size CHECK (octet_length(type) <= 256),
    is_about     boolean NOT NULL DEFAULT false
) WITH (autovacuum_vacuum_scale_factor = 0.05);
INSERT INTO _pgrecall.mentions
SELECT m.concept_id, m.memory_id, m.namespace_id, m.confidence, m.source::text, NULL, a.alias,
       COALESCE(m.type, CASE WHEN m.source NOT IN ('tag', 'keyword') THEN 'CONCEPT' END), m.is_about
FROM pgrecall.mentions m
JOIN pgrecall.concept_aliases a ON a.concept_id = m.concept_id AND a.id = m.alias_id;
ALTER TABLE _pgrecall.mentions
    ADD CONSTRAINT mentions_pkey PRIMARY KEY (memory_id, alias, source) INCLUDE (concept_id, is_about),
    ADD CONSTRAINT mentions_alias_fkey FOREIGN KEY (namespace_id, alias, concept_id)
        REFERENCES _pgrecall.concept_aliases (namespace_id, alias, concept_id) ON UPDATE CASCADE,
    ADD CONSTRAINT mentions_memory_id_fkey FOREIGN KEY (memory_id)
        REFERENCES pgrecall.memories (id) ON DELETE CASCADE;
CREATE INDEX mentions_concept_idx ON _pgrecall.mentions (concept_id, is_about DESC, memory_id DESC);
ALTER TABLE _pgrecall.mentions ALTER alias SET STATISTICS 0, ALTER type SET STATISTICS 0;
ALTER TABLE _pgrecall.mentions ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE _pgrecall.mentions IS 'Which memory mentions which concept, and what found the mention.';
COMMENT ON COLUMN _pgrecall.mentions.source IS
    'What found the mention: tag, keyword, or the name of an enricher.';
COMMENT ON COLUMN _pgrecall.mentions.span IS 'Character range in the content, if the mention is in the text.';
COMMENT ON COLUMN _pgrecall.mentions.alias IS 'The normalised name of the mention.';
COMMENT ON COLUMN _pgrecall.mentions.type IS 'The type found with the mention; NULL for tags and keywords.';
COMMENT ON COLUMN _pgrecall.mentions.is_about IS
    'The memory is about the concept: the concept is its title or subject.';
"""
EXCHANGE_BACK = """
ALTER TABLE pgrecall.relationships
    DROP CONSTRAINT relationships_source_fkey, DROP CONSTRAINT relationships_target_fkey,
    ADD source_alias text COLLATE "C", ADD target_alias text COLLATE "C";
UPDATE pgrecall.relationships r SET source_alias = s.alias, target_alias = t.alias
FROM pgrecall.concept_aliases s, pgrecall.concept_aliases t
WHERE s.concept_id = r.source_id AND s.id = r.source_alias_id
  AND t.concept_id = r.target_id AND t.id = r.target_alias_id;
DROP TABLE pgrecall.mentions, pgrecall.concept_aliases;
DROP TYPE pgrecall.mention_source;
ALTER TABLE _pgrecall.concept_aliases SET SCHEMA pgrecall;
ALTER TABLE _pgrecall.mentions SET SCHEMA pgrecall;
ALTER TABLE pgrecall.relationships
    ALTER source_alias SET NOT NULL, ALTER target_alias SET NOT NULL,
    DROP source_alias_id, DROP target_alias_id,
    ALTER source_alias SET STATISTICS 0, ALTER target_alias SET STATISTICS 0,
    ADD CONSTRAINT relationships_source_fkey FOREIGN KEY (namespace_id, source_alias, source_id)
        REFERENCES pgrecall.concept_aliases (namespace_id, alias, concept_id) ON UPDATE CASCADE,
    ADD CONSTRAINT relationships_target_fkey FOREIGN KEY (namespace_id, target_alias, target_id)
        REFERENCES pgrecall.concept_aliases (namespace_id, alias, concept_id) ON UPDATE CASCADE;
CREATE UNIQUE INDEX relationships_open_key
    ON pgrecall.relationships (source_alias, label, target_alias, namespace_id) WHERE valid_to IS NULL;
COMMENT ON COLUMN pgrecall.relationships.source_alias IS 'The normalised name of the subject, as stated.';
COMMENT ON COLUMN pgrecall.relationships.target_alias IS 'The normalised name of the object, as stated.';
ALTER TYPE pgrecall.fact_statement ALTER ATTRIBUTE source_alias_id TYPE text,
    ALTER ATTRIBUTE target_alias_id TYPE text;
ALTER TYPE pgrecall.fact_statement RENAME ATTRIBUTE source_alias_id TO source_alias;
ALTER TYPE pgrecall.fact_statement RENAME ATTRIBUTE target_alias_id TO target_alias;
ALTER TABLE pgrecall.concepts
    ALTER id SET NO MAXVALUE,
    ADD CONSTRAINT concepts_namespace_id_key_key UNIQUE (namespace_id, key);
CREATE INDEX concepts_namespace_id_idx ON pgrecall.concepts (namespace_id, (id + 0));
"""


def downgrade() -> None:
    connection = op.get_bind()
    run_sql(connection, LOCK)
    run_sql(connection, FILL_BACK)
    run_sql(connection, EXCHANGE_BACK)
