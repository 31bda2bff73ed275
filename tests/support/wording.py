"""The words of a memory and the forms of a query, as the database makes them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

LANGUAGES = ("simple", "english", "german", "spanish", "russian", "turkish")
FORMS = (
    "query_terms",
    "match_any_word",
    "match_all_words",
    "match_phrase",
    "match_websearch",
    "match_prefix",
)

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
SIGNS = st.text("aAbB1é東ー -_/.@:\\<>&#~%+='\"|!()*,\t\n", max_size=40)
"""What hypothesis makes texts of: anything, and what parsers care about."""


@contextmanager
def silent(dsn: str) -> Iterator[Connection[Any]]:
    """Open a connection on which the server must not say anything."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        notices: list[str | None] = []
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        yield connection
        assert notices == []


def words(conn: Connection[Any], text: str, language: str = "simple") -> dict[str, list[int]]:
    """The lexemes of a memory's text with their places."""
    query = "SELECT lexeme, positions FROM unnest(_pgrecall.analyze_text(%s::regconfig, %s))"
    return dict(conn.execute(query, (language, text)).fetchall())


def form(conn: Connection[Any], name: str, query: str | None, *languages: str) -> Any:
    """Call one of `FORMS`; a tsquery comes as text."""
    statement = f"SELECT _pgrecall.{name}(%s::regconfig[], %s)"
    (value,) = conn.execute(statement.encode(), (list(languages), query)).fetchone() or (None,)
    return value


def matches(conn: Connection[Any], text: str, name: str, query: str, language: str = "simple") -> bool | None:
    """Whether a memory's words match a form of a query; None if the query has no words."""
    statement = f"SELECT _pgrecall.analyze_text(%s::regconfig, %s) @@ _pgrecall.{name}(%s::regconfig[], %s)"
    (value,) = conn.execute(statement.encode(), (language, text, [language], query)).fetchone() or (None,)
    return None if value is None else bool(value)
