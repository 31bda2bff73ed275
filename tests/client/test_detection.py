"""The language of a memory, detected: by the client, by an import, and what happens without the library."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import AsyncClient, Client, InvalidInput, NewMemory, PgrecallError, languages
from pgrecall.installing import install_command
from pgrecall.jsonl.load import import_jsonl
from pgrecall.languages import detect_language
from support.memories import stored

if TYPE_CHECKING:
    from psycopg import Connection

TEXTS = {
    "english": "We met at the harbour and talked about the long trip through the mountains.",
    "german": "Wir haben uns am Hafen getroffen und über die lange Reise durch die Berge gesprochen.",
    "spanish": "Nos encontramos en el puerto y hablamos del largo viaje por las montañas con nuestros amigos.",
    "french": "Nous nous sommes retrouvés au port et avons parlé du long voyage à travers les montagnes.",
    "russian": "Мы встретились в гавани и говорили о долгом путешествии через горы.",
    "simple": "Spotkaliśmy się w porcie i rozmawialiśmy o długiej podróży przez góry.",
}
UNCERTAIN = ("Goa", "ok", "12345 67890", "def f(x): return x", "😀😀😀", "Priya, Tom, Lea")


def language_of(conn: Connection[Any], number: int) -> str:
    return str(stored(conn, number)["language"])


def test_languages_are_told_apart() -> None:
    assert {name: detect_language(text) for name, text in TEXTS.items()} == {name: name for name in TEXTS}
    assert (
        detect_language("我们昨天在北京的港口见面，谈论穿越山脉的漫长旅程，然后一起吃了晚饭，聊到了很晚。")
        == "simple"
    )


@pytest.mark.parametrize("text", UNCERTAIN)
def test_what_is_not_certain_is_left_to_the_namespace(
    client: Client, conn: Connection[Any], text: str
) -> None:
    assert detect_language(text) is None
    assert language_of(conn, client.remember(text, language="auto")) == "english"


@pytest.mark.parametrize("language", TEXTS)
def test_remember_and_revise(client: Client, conn: Connection[Any], language: str) -> None:
    number = client.remember(TEXTS[language], language="auto")
    assert language_of(conn, number) == language
    assert client.update(number, content=TEXTS["german"] + " ", language="auto")
    assert language_of(conn, number) == "german"
    # Nothing certain changes nothing.
    assert client.update(number, content="ok", language="auto")
    assert language_of(conn, number) == "german"
    with pytest.raises(InvalidInput, match="auto"):
        client.update(number, language="auto")


def test_remember_many(client: Client, conn: Connection[Any]) -> None:
    memories = [NewMemory(content=text, language="auto") for text in TEXTS.values()]
    memories.append(NewMemory(content=TEXTS["german"], language="simple"))
    memories.append(NewMemory(content=TEXTS["german"], metadata={"language": "auto"}))
    ids = client.remember_many(memories, batch_size=4)
    assert [language_of(conn, number) for number in ids] == [*TEXTS, "simple", "english"]
    assert stored(conn, ids[-1])["metadata"] == {"language": "auto"}
    found = client.recall("Wer sprach von Reisen?", embed=False)
    assert found[0].content == TEXTS["german"]


def test_asynchronous_client(dsn: str, conn: Connection[Any]) -> None:
    async def work() -> list[int]:
        async with AsyncClient(dsn) as client:
            number = await client.remember(TEXTS["spanish"], language="auto")
            many = await client.remember_many([{"content": TEXTS["french"], "language": "auto"}])
            return [number, *many]

    assert [language_of(conn, number) for number in asyncio.run(work())] == ["spanish", "french"]


def test_import(client: Client, conn: Connection[Any]) -> None:
    lines = [json.dumps({"id": name, "content": text}) for name, text in TEXTS.items()]
    lines += [
        json.dumps({"id": "named", "content": TEXTS["german"], "lang": "fr"}),
        json.dumps({"id": "short", "content": "ok"}),
    ]
    report = import_jsonl(client, (line.encode() for line in lines), detect_language=True)
    assert (report.stored, report.rejected) == (len(lines), ())
    query = "SELECT external_id, language FROM pgrecall.memories"
    assert dict(conn.execute(query).fetchall()) == {
        **{name: name for name in TEXTS},
        "named": "french",
        "short": "english",
    }
    import_jsonl(client, [json.dumps({"id": "auto", "content": TEXTS["german"], "lang": "auto"}).encode()])
    import_jsonl(client, [json.dumps({"id": "none", "content": TEXTS["german"]}).encode()])
    found = dict(conn.execute(query).fetchall())
    assert (found["auto"], found["none"]) == ("german", "english")


def test_command_line(dsn: str, conn: Connection[Any]) -> None:
    def run(*arguments: str, text: str) -> None:
        command = [sys.executable, "-m", "pgrecall", *arguments, "--dsn", dsn]
        subprocess.run(command, input=text, text=True, check=True, capture_output=True, timeout=120)

    run("import", "-", "--detect-language", text=json.dumps({"id": "a", "content": TEXTS["german"]}))
    run("remember", "-", "--language", "auto", text=TEXTS["spanish"])
    rows = conn.execute("SELECT language FROM pgrecall.memories ORDER BY id").fetchall()
    assert rows == [("german",), ("spanish",)]


def test_without_the_library(client: Client, conn: Connection[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    monkeypatch.setattr(languages, "_loaded", [])
    for attempt in (
        lambda: client.remember(TEXTS["german"], language="auto"),
        lambda: client.remember_many([NewMemory(content=TEXTS["german"], language="auto")]),
        lambda: import_jsonl(client, [b'{"content": "x"}'], detect_language=True),
    ):
        with pytest.raises(PgrecallError, match="py3langid") as caught:
            attempt()
        assert caught.value.hint is not None
        assert install_command("languages") in caught.value.hint
    assert conn.execute("SELECT count(*) FROM pgrecall.memories").fetchone() == (0,)
    assert language_of(conn, client.remember(TEXTS["german"], language="german")) == "german"
