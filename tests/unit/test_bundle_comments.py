"""The comment of an object in the database is the first paragraph of its file's header."""

from __future__ import annotations

import pytest

from pgrecall.admin.bundle import folder, header, sql_files, with_comment

SEVERAL_OBJECTS = {"revoke.sql", "grants.sql", "core/tenancy/policies.sql"}


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        (
            "-- Adds one.\nCREATE OR REPLACE FUNCTION pgrecall.f(n integer)\nRETURN n + 1;\n",
            "FUNCTION pgrecall.f IS 'Adds one.'",
        ),
        (
            "-- The user's\n-- names.\n--\n-- More.\nCREATE OR REPLACE VIEW _pgrecall.v AS SELECT 1;\n",
            "VIEW _pgrecall.v IS 'The user''s names.'",
        ),
        (
            "-- Runs.\nCREATE OR REPLACE PROCEDURE public.p()\nAS $$\nCREATE OR REPLACE FUNCTION public.f()\n$$;\n",
            "PROCEDURE public.p IS 'Runs.'",
        ),
    ],
)
def test_the_first_paragraph_is_the_comment(text: str, comment: str) -> None:
    assert with_comment(text) == f"{text}\nCOMMENT ON {comment};\n"


@pytest.mark.parametrize(
    "text",
    [
        "CREATE OR REPLACE FUNCTION pgrecall.f()\n-- Not a header.\nRETURN 1;\n",
        "-- Several objects.\nDO $do$ BEGIN EXECUTE 'CREATE POLICY …'; END $do$;\n",
    ],
)
def test_without_a_header_or_an_object_there_is_no_comment(text: str) -> None:
    assert with_comment(text) == text


def test_what_follows_the_first_paragraph_is_no_part_of_the_comment() -> None:
    assert header("-- One.\n--\n-- n  a number\n--\n-- Errors\nSELECT 1;\n") == (
        "One.",
        "n  a number\n\nErrors",
    )
    assert header("SELECT 1;\n-- Late.\n") == ("", "")


def test_every_file_of_an_object_ends_with_its_comment() -> None:
    for file in sql_files():
        raw = (folder("sql") / file.name).read_text(encoding="utf-8")
        added = file.text.removeprefix(raw)
        assert added.startswith("\nCOMMENT ON ") == (file.name not in SEVERAL_OBJECTS), file.name
        assert "\nCOMMENT ON" not in raw, file.name
