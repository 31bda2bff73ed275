# ruff: noqa: E501 (a line for each table)
"""Limits on every column that somebody else than the installer can fill, whichever way the row comes.

The functions refuse what is too large before it comes here, with an error that says what to do. These constraints
are for rows that are written by hand, and for functions that forget to look.
"""

from alembic import op

from pgrecall.install import run_sql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

# Bytes. A name is as long as a tag or a title may be, normalised: NFKC makes up to four times as much of the letters of a
# title. A word is as long as PostgreSQL lets one be.
_NAME, _LABEL, _KIND, _ERROR, _WORD = 16_384, 1_024, 256, 4_096, 2_048
_LIST, _DOCUMENT = 12_288, 262_144
TEXTS = {
    "memories": {
        "title": 4_096, "category": _LABEL, "source": _LABEL, "session": _LABEL, "speaker": _LABEL,
        "external_id": _LABEL, "language": _LABEL, "content_hash": 64,
    },
    "namespaces": {"language": _LABEL},
    "concepts": {"key": _NAME, "name": _NAME, "type": _KIND},
    "concept_aliases": {"alias": _NAME, "name": _NAME},
    "concept_merges": {"key": _NAME, "into_key": _NAME, "method": _KIND, "type": _KIND},
    "mentions": {"source": _KIND, "type": _KIND},
    "temporal_refs": {"granularity": _KIND, "source": _KIND},
    "relationships": {"label": _NAME},
    "relationship_evidence": {"label": _NAME, "source": _KIND, "statement": _DOCUMENT},
    "relation_labels": {"alias": _NAME, "label": _NAME, "method": _KIND},
    "curations": {"decider": _LABEL},
    "embedding_failures": {"cause": _KIND, "error": _ERROR},
    "embedding_jobs": {"last_error": _ERROR},
    "extractions": {"enricher": _KIND, "version": _KIND, "last_error": _ERROR},
    "judged_queries": {"query": 4 * 16_384},
    "term_stats": {"term": _WORD},
    "postings": {"term": _WORD},
    "llm_answers": {"key": _KIND},
    "llm_usage": {"model": _LABEL},
    "query_embeddings": {"error": _ERROR, "query_hash": 64},
    "embedding_models": {"name": _LABEL, "provider": _KIND, "query_prompt": 16_384, "document_prompt": 16_384},
    "entity_rules": {"type": _KIND},
    "settings": {"name": _LABEL, "value": 65_536},
    "workers": {"bundle_hash": _KIND, "hostname": _LABEL, "model": _LABEL, "role_name": _KIND},
}  # fmt: skip
DOCUMENTS = {
    "memories": {"metadata": _DOCUMENT},
    "curations": {"before": 4 * _DOCUMENT, "after": 4 * _DOCUMENT, "evidence": 4 * _DOCUMENT},
    "llm_answers": {"answer": 4 * _DOCUMENT},
    "workers": {"pauses": 65_536},
}
# How many, and bytes of all together.
LISTS = {
    "memories": {"tags": (256, _LIST), "expanded_keywords": (256, _LIST)},
    "namespaces": {"languages": (1_000, 65_536)},
    "concept_merges": {"aliases": (10_000, 4 * _DOCUMENT)},
    "entity_rules": {"keywords": (100_000, 64 * _DOCUMENT), "patterns": (100, 4 * _DOCUMENT)},
}
NUMBERS = {"judged_queries": {"exclude": 10_000}, "workers": {"generations": 1_000}}


def constraints() -> list[tuple[str, str, str]]:
    """Return table, name and condition of each constraint."""
    found = []
    for table, columns in TEXTS.items():
        found += [(table, name, f"octet_length({name}) <= {most}") for name, most in columns.items()]
    for table, documents in DOCUMENTS.items():
        found += [(table, name, f"octet_length({name}::text) <= {most}") for name, most in documents.items()]
    for table, lists in LISTS.items():
        found += [
            (
                table,
                name,
                f"cardinality({name}) <= {many} AND octet_length(array_to_string({name}, '')) <= {most}",
            )
            for name, (many, most) in lists.items()
        ]
    for table, numbers in NUMBERS.items():
        found += [(table, name, f"cardinality({name}) <= {many}") for name, many in numbers.items()]
    return [(table, f"{table}_{name}_size", condition) for table, name, condition in found]


def upgrade() -> None:
    tables: dict[str, list[str]] = {}
    for table, name, condition in constraints():
        tables.setdefault(table, []).append(f"ADD CONSTRAINT {name} CHECK ({condition})")
    for table, additions in tables.items():
        run_sql(op.get_bind(), f"ALTER TABLE pgrecall.{table} {', '.join(additions)}")


def downgrade() -> None:
    for table, name, _ in constraints():
        run_sql(op.get_bind(), f"ALTER TABLE pgrecall.{table} DROP CONSTRAINT {name}")
