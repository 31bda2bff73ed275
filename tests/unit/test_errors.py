"""SQLSTATEs become exception classes; messages come from the server or from the docstring."""

from __future__ import annotations

import inspect

import psycopg
import pytest

import pgrecall
from pgrecall import errors
from pgrecall.models.stored import StoredMessage


@pytest.mark.parametrize(
    ("sqlstate", "expected"),
    [
        ("22023", errors.InvalidInput),
        ("22021", errors.InvalidInput),
        ("22P05", errors.InvalidInput),
        ("22003", errors.InvalidInput),
        ("23505", errors.Conflict),
        ("23514", errors.InvalidInput),
        ("25006", errors.ReadOnlyServer),
        ("28P01", errors.ConnectionFailed),
        ("08006", errors.ConnectionFailed),
        ("57P01", errors.ConnectionFailed),
        ("3F000", errors.SchemaMismatch),
        ("42883", errors.SchemaMismatch),
        ("42P01", errors.SchemaMismatch),
        ("42703", errors.SchemaMismatch),
        ("55000", errors.SchemaMismatch),
        ("42501", errors.PermissionDenied),
        ("42704", errors.UnknownNamespace),
        ("54000", errors.TooLarge),
        ("54001", errors.TooLarge),
        ("57014", errors.TimedOut),
        ("P0002", errors.NotFound),
        ("XX000", errors.PgrecallError),
        (None, errors.PgrecallError),
    ],
)
def test_sqlstate_chooses_the_class(sqlstate: str | None, expected: type[errors.PgrecallError]) -> None:
    assert errors.error_class(sqlstate) is expected


def test_every_class_has_its_message_as_docstring_and_is_public() -> None:
    classes = [
        cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, errors.PgrecallError)
    ]
    assert len(classes) > 10
    for cls in classes:
        assert cls().message == (cls.__doc__ or "").splitlines()[0]
        assert str(cls()) == cls().message
        assert cls.__name__ in pgrecall.__all__
        assert getattr(pgrecall, cls.__name__) is cls


def test_message_sqlstate_and_hint_can_be_given() -> None:
    error = errors.InvalidInput("no", sqlstate="22021", hint="yes")
    assert (error.message, error.sqlstate, error.hint, error.stored) == ("no", "22021", "yes", ())
    assert errors.InvalidInput("no").sqlstate == "22023"
    # An empty text is a text: it does not fall back to the default.
    assert errors.ConnectionFailed("").message == ""


def test_server_errors_keep_message_and_hint_but_no_detail(conn: psycopg.Connection[object]) -> None:
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(
            "DO $$ BEGIN RAISE EXCEPTION 'no such thing' USING ERRCODE = '54000', HINT = 'do this',"
            " DETAIL = 'a secret'; END $$"
        )
    error = errors.error_from(caught.value)
    assert type(error) is errors.TooLarge
    assert (error.message, error.sqlstate, error.hint) == ("no such thing", "54000", "do this")
    assert "secret" not in str(error)


def test_what_postgresql_refuses_without_a_hint_has_one_that_leads_on(
    conn: psycopg.Connection[object],
) -> None:
    hints = {}
    for mode, statement in (
        # A predefined role, which has no grant on the schema.
        ("SET LOCAL ROLE pg_monitor", "SELECT m.content FROM pgrecall.memories m"),
        ("SET TRANSACTION READ ONLY", "SELECT public.remember('tea')"),
    ):
        with pytest.raises(psycopg.Error) as caught, conn.transaction(force_rollback=True):
            conn.execute(f"{mode}; {statement}".encode())
        error = errors.error_from(caught.value)
        hints[type(error)] = str(error.hint)
    assert "pgrecall.grant_namespace()" in hints[errors.PermissionDenied]
    assert "default_transaction_read_only" in hints[errors.ReadOnlyServer]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT public.recall(query => 'tea', argument_of_tomorrow => '{}')",
        "SELECT pgrecall.list_secretz()",
        "SELECT m.origim FROM pgrecall.memories m",
        "SELECT FROM pgrecall.pagez",
        "SELECT pgrecal.contract()",
    ],
)
def test_what_an_older_database_lacks_leads_to_the_upgrade(
    conn: psycopg.Connection[object], statement: str
) -> None:
    """PostgreSQL's own hints speak of casts, and of names that look alike."""
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(statement.encode())
    error = errors.error_from(caught.value)
    assert type(error) is errors.SchemaMismatch
    assert "pgrecall migrate" in str(error.hint)
    assert "cast" not in str(error.hint)


def test_a_row_without_a_column_that_the_package_needs_leads_to_the_upgrade() -> None:
    known = {"place": 1, "id": 7}
    assert StoredMessage.of({**known, "is_new": True, "of_tomorrow": 1}).id == 7
    with pytest.raises(errors.SchemaMismatch, match="return no is_new") as caught:
        StoredMessage.of(known)
    assert "pgrecall migrate" in str(caught.value.hint)


def test_unknown_language_is_told_from_unknown_namespace(conn: psycopg.Connection[object]) -> None:
    with pytest.raises(psycopg.Error) as caught:
        conn.execute("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '42704', COLUMN = 'language'; END $$")
    assert type(errors.error_from(caught.value)) is errors.UnknownLanguage


def test_errors_without_a_server_answer() -> None:
    lost = errors.error_from(psycopg.OperationalError("no route"))
    assert type(lost) is errors.ConnectionFailed
    assert lost.message == "no route"
    assert lost.sqlstate == "08006"
    assert type(errors.error_from(psycopg.InterfaceError("closed"))) is errors.ConnectionFailed
    mixed = psycopg.InternalError(
        "received 2 results from command 'BEGIN'"
    )  # PgBouncer, of a server that is gone
    assert type(errors.error_from(mixed)) is errors.ConnectionFailed
    assert type(errors.error_from(psycopg.ProgrammingError("odd"))) is errors.PgrecallError
    unsent = errors.error_from(psycopg.DataError("cannot dump 'a secret'"))
    assert type(unsent) is errors.InvalidInput
    assert "secret" not in str(unsent)


def test_unknown_attribute_of_the_package() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = pgrecall.no_such_name
    assert set(pgrecall.__all__) <= set(dir(pgrecall))
