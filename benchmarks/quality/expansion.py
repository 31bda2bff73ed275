"""Other names of concepts: how many there are, and how many questions of a data set are expanded by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.quality.datasets import Query
    from benchmarks.quality.resources import Resources

__all__ = ["expanded_questions", "resolve_names"]

_BATCH = 500

_TERMS = """
    SELECT cardinality(q.concepts), cardinality(_pgrecall.alias_terms(q.concepts, q.text))
    FROM (
        SELECT %(text)s::text AS text,
               _pgrecall.named_concepts(
                   pgrecall.namespace_id(%(namespace)s), %(text)s, %(df_max)s
               ) AS concepts
    ) q
    WHERE pgrecall.is_expandable(q.text)
"""
_SEVERAL = """
    SELECT count(*) FROM (SELECT FROM pgrecall.concept_aliases a GROUP BY a.concept_id HAVING count(*) > 1) c
"""


def expanded_questions(resources: Resources, queries: Sequence[Query]) -> dict[str, int]:
    """Count the data set's own questions by what expand = aliases finds for them.

    Args:
        resources: The run's, with the data set loaded.
        queries: The questions.

    Returns:
        All questions, those that may be expanded, those of them that name a concept, and those that get a
        term; and how many concepts have more than one name.
    """
    connection = resources.connect()
    df_max = int(resources.loaded.description["settings"]["hub_max_mentions"])
    own = [query for query in queries if not query.generated]
    said = [
        row
        for query in own
        for row in connection.execute(
            _TERMS, {"text": query.text, "namespace": query.namespace, "df_max": df_max}
        )
    ]
    [(several,)] = connection.execute(_SEVERAL)
    return {
        "questions": len(own),
        "expandable": len(said),
        "naming": sum(concepts > 0 for concepts, _ in said),
        "expanded": sum(terms > 0 for _, terms in said),
        "concepts_with_other_names": int(several),
    }


def resolve_names(resources: Resources) -> dict[str, int]:
    """Merge concepts whose names are alike by their letters, as the daemon does in the background.

    Names have no embeddings here, so what is alike by meaning alone stays apart.

    Args:
        resources: The run's, with the data set loaded.

    Returns:
        How many concepts there are before and after.
    """
    resources.loaded  # noqa: B018 - it is loaded when it is first looked at
    connection = resources.connect()

    def concepts() -> int:
        [(count,)] = connection.execute("SELECT count(*) FROM pgrecall.concepts")
        return int(count)

    before = concepts()
    while connection.execute("SELECT pgrecall.resolve_concepts(%s)", (_BATCH,)).fetchone() != (0,):
        pass
    return {"before": before, "after": concepts()}
