"""The rules for secrets: what they find in labelled texts, what they leave as it is, and that the first look has them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from benchmarks.quality.secrets.labels import labels
from support.memories import rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

MARK = "[redacted: password]"


def redacted(conn: Connection[Any], text: str) -> tuple[str, list[str] | None]:
    (clean, kinds) = rows(conn, "_pgrecall.redact_text", text)[0]
    return clean, kinds


def test_what_is_found_of_the_labelled_texts(conn: Connection[Any]) -> None:
    """The figures of docs/adr/0037-secrets.md do not get worse; each text with a finding passes may_hold_secret."""
    made = labels(7)
    clean = [redacted(conn, label.text) for label in made]
    found = [kinds is not None for _, kinds in clean]
    for label, (text, kinds) in zip(made, clean, strict=True):
        assert not (label.kind and kinds) or label.secret not in text, label.text
    for is_held_out, least, most in ((False, 226, 0), (True, 161, 2)):
        half = [pair for pair in zip(made, found, strict=True) if pair[0].is_held_out == is_held_out]
        assert sum(hit for label, hit in half if label.kind) >= least
        assert sum(hit for label, hit in half if not label.kind) <= most
    assert len({label.kind for label in made}) > 20


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("password: x9y8z7,k4 and more", f"password: {MARK} and more"),
        ("Server=db;Password=x9y8z7;Encrypt=true", f"Server=db;Password={MARK};Encrypt=true"),
        ("{password: x9y8z7}, {user: ana}", f"{{password: {MARK}}}, {{user: ana}}"),
        ("パスワードはtiger2041です。", f"パスワードは{MARK}です。"),
        (
            "Lo\u0308senordet a\u0308r x; lo\u0308senord: tiger2041",
            f"Lo\u0308senordet a\u0308r x; lo\u0308senord: {MARK}",
        ),
        ("ＰＡＳＳＷＯＲＤ：tiger2041！", f"ＰＡＳＳＷＯＲＤ：{MARK}！"),
        ("<password>xml1Secret</password>", f"<password>{MARK}</password>"),
        ('The passphrase is "green apple window door", she said', f'The passphrase is "{MARK}", she said'),
        ("mysql -u root -pR00tme!42 shop", f"mysql -u root -p{MARK} shop"),
    ],
)
def test_what_stands_around_a_secret_stays_as_it_was(conn: Connection[Any], text: str, kept: str) -> None:
    assert redacted(conn, text) == (kept, ["password"])


def test_the_first_look_and_the_hints_leave_nothing_out(conn: Connection[Any]) -> None:
    """Every pattern alone, tried on every text, finds no more than the texts that are searched for it."""
    texts = [label.text for label in labels(7)]
    for kind, hints, pattern in rows(conn, "_pgrecall.secret_rules"):
        missed = scalar(
            conn,
            """
            SELECT count(*) FROM unnest(%s::text[]) t (content)
            WHERE t.content ~ %s AND NOT (_pgrecall.may_hold_secret(t.content) AND EXISTS (
                SELECT FROM unnest(%s::text[]) h (hint) WHERE strpos(lower(t.content COLLATE "C"), h.hint) > 0
            ))
            """,
            texts,
            pattern,
            hints,
        )
        # Their shape alone would find ids, so the name of the service has to be there.
        assert missed == 0 or kind in ("discord-token", "twilio-key"), kind


def test_the_first_look_says_the_same_of_a_short_and_a_long_text(conn: Connection[Any]) -> None:
    """They are searched in two ways, for the same words. A short text with a command is searched if it has options."""
    texts = [label.text for label in labels(7)] + [
        f"{before}{hint}{after}"
        for _, hints, _ in rows(conn, "_pgrecall.secret_rules")
        for hint in hints
        for before in ("", "a ")
        for after in ("", " b", "w")
    ]
    differing = scalar(
        conn,
        """
        SELECT array_agg(t.content) FROM unnest(%s::text[]) t (content)
        WHERE octet_length(t.content) < 500
            AND _pgrecall.may_hold_secret(t.content || ' -') <> _pgrecall.may_hold_secret(t.content || ' -' || repeat(' ', 700))
        """,
        texts,
    )
    assert differing is None


def test_each_rule_has_its_hints_in_small_letters_and_one_group(conn: Connection[Any]) -> None:
    for kind, hints, pattern in rows(conn, "_pgrecall.secret_rules"):
        assert not any("A" <= letter <= "Z" for hint in hints for letter in hint), kind
        with pytest.raises(psycopg.errors.InvalidRegularExpression), conn.transaction():
            scalar(conn, "SELECT regexp_replace('x', %s, '') ~ %s", "a", f"{pattern}\\2")


@pytest.mark.parametrize(
    "text",
    [
        "docker run --secret id=npmrc22x,src=.npmrc",
        "gh auth login --with-token < token1.txt",
        "mysql -u app -p shop < dump2.sql",
        "password = $argon2id$v=19$m=65536",
        "The password on the login page2 needs work",
    ],
)
def test_options_and_places_are_no_secrets(conn: Connection[Any], text: str) -> None:
    assert redacted(conn, text) == (text, None)
