"""One script written for mem0 runs on the real library and on pgrecall, and comes to the same."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.contrib.mem0 import Memory
from support import mem0_script
from support.extractor import WITHOUT_SPACY, read_all
from support.llm import Asked, Reply, Server, completion, served
from support.packages import SECONDS, install

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PUBLISHED = ("mem0ai==2.2.1", "qdrant-client==1.20.0")
DIMENSION = 64
PARTS = ("as_given", "errors", "inferred")
KEPT = "Priya is allergic to peanuts"
WIDER = {"search beside filters", "list beside filters"}
"""What pgrecall takes and mem0 2 no longer does: it is how scripts for mem0 1 are written."""


@pytest.fixture(scope="module")
def mem0(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the real library."""
    folder = tmp_path_factory.mktemp("mem0")
    install(folder, *PUBLISHED)
    return folder


@pytest.fixture(scope="module")
def theirs(mem0: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each part of the script comes to on the real library, which takes seconds to import."""
    with served() as server:
        server.script = _answer
        configs = {part: config(server, tmp_path_factory.mktemp(part)) for part in PARTS}
        return run_mem0(configs, tmp_path_factory.mktemp("home"), mem0)


@pytest.fixture
def model() -> Iterator[Server]:
    """A server of embeddings, in which texts that share words are near, and of a model that always says the same."""
    with served() as server:
        server.script = _answer
        yield server


def _answer(asked: Asked) -> Reply:
    if asked.path.endswith("/embeddings"):
        rows = [
            {"object": "embedding", "index": place, "embedding": _vector(text)}
            for place, text in enumerate(asked.json["input"])
        ]
        body = {
            "object": "list",
            "model": "m",
            "data": rows,
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
        return Reply(body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    return completion({"memory": [{"id": "0", "text": KEPT, "attributed_to": "user"}]})


def _vector(text: str) -> list[float]:
    numbers = [0.0] * DIMENSION
    for word in re.findall(r"\w+", text.lower()):
        numbers[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSION] += 1
    norm = math.hypot(*numbers) or 1.0
    return [number / norm for number in numbers]


def run_mem0(configs: dict[str, dict[str, Any]], folder: Path, library: Path) -> dict[str, dict[str, Any]]:
    """Run parts of the script, each with its settings, on the real library; return what each step came to, by part."""
    done = subprocess.run(
        # -P: the folder of the script has modules of the same names as libraries.
        [sys.executable, "-P", mem0_script.__file__, "mem0", json.dumps(configs)],
        cwd=folder,
        env={
            **os.environ,
            "HOME": str(folder),
            "MEM0_DIR": str(folder),
            "MEM0_TELEMETRY": "false",
            "PYTHONPATH": str(library),
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return outcomes(done.stdout)


def outcomes(printed: str) -> dict[str, dict[str, Any]]:
    """Return what each step came to, by part."""
    found: dict[str, dict[str, Any]] = {}
    for line in map(json.loads, printed.splitlines()):
        if "part" in line:
            steps = found[line["part"]] = {}
        else:
            assert line["step"] not in steps
            steps[line["step"]] = line.get("result", line.get("error"))
    return found


def config(model: Server, folder: Path) -> dict[str, Any]:
    """Return the settings of mem0, whose data is in a folder."""
    server = {"model": "m", "api_key": "k", "openai_base_url": model.url}
    store = {"path": str(folder / "qdrant"), "embedding_model_dims": DIMENSION, "on_disk": True}
    return {
        "llm": {"provider": "openai", "config": server},
        "embedder": {"provider": "openai", "config": {**server, "embedding_dims": DIMENSION}},
        "vector_store": {"provider": "qdrant", "config": store},
        "history_db_path": str(folder / "history.db"),
    }


def run_ours(part: str, model: Server, dsn: str, folder: Path) -> dict[str, Any]:
    """Run a part of the script on pgrecall, in this process: the model of the queries is loaded once."""
    configs = json.dumps({part: config(model, folder) | {"dsn": dsn}})
    with redirect_stdout(io.StringIO()) as printed:
        mem0_script.main("pgrecall", configs)
    return outcomes(printed.getvalue())[part]


def comparable(outcome: Any) -> Any:
    """Return an outcome without what no two runs share: ids and times; scores by whether they are there."""

    def plain(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: plain(one, key) for key, one in value.items()}
        if isinstance(value, list):
            return (
                sorted((plain(one) for one in value), key=json.dumps)
                if name == "results"
                else list(map(plain, value))
            )
        if name in {"id", "memory_id"}:
            assert isinstance(value, str)
            return "an id"
        if name in {"created_at", "updated_at"}:
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00", value), value
            return "a time"
        return "a score" if name == "score" and value is not None else value

    return plain(outcome)


def test_memories_as_they_are_given(
    theirs: dict[str, dict[str, Any]], model: Server, dsn: str, tmp_path: Path
) -> None:
    ours = run_ours("as_given", model, dsn, tmp_path)
    assert list(ours) == list(theirs["as_given"])
    for name, outcome in theirs["as_given"].items():
        assert (name, comparable(ours[name])) == (name, comparable(outcome))


def test_what_is_refused(theirs: dict[str, dict[str, Any]], model: Server, dsn: str, tmp_path: Path) -> None:
    ours = run_ours("errors", model, dsn, tmp_path)
    assert list(ours) == list(theirs["errors"])
    for name, outcome in theirs["errors"].items():
        if name not in WIDER:
            assert (name, comparable(ours[name])) == (name, comparable(outcome))


def test_conversations(theirs: dict[str, dict[str, Any]], model: Server, dsn: str, tmp_path: Path) -> None:
    """mem0 keeps what its model says, pgrecall keeps the messages; neither keeps anything twice."""
    kept, ours = theirs["inferred"], run_ours("inferred", model, dsn, tmp_path)
    assert list(ours) == list(kept)
    told = ["I am allergic to peanuts", "Noted, no peanuts on your plate"]
    assert texts(kept["add"]) == [KEPT]
    assert texts(ours["add"]) == told
    assert ours["add again"] == kept["add again"] == ours["add the text again"] == {"results": []}
    assert texts(kept["get all"]) == [KEPT]
    assert texts(ours["get all"]) == sorted(["I like tea", *told])
    assert texts(kept["search"])[0] == KEPT
    assert set(told) & set(texts(ours["search"]))
    for name in ("add", "get all", "search"):
        common = set(kept[name]["results"][0]) - {"attributed_to", "run_id"}
        assert all(common <= set(one) for one in ours[name]["results"])


def test_what_a_model_keeps(
    theirs: dict[str, dict[str, Any]],
    model: Server,
    dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With notes switched on, the daemon adds to pgrecall what mem0 keeps."""
    monkeypatch.setenv("PGRECALL_LLM_URL", model.url)
    with psycopg.connect(dsn, autocommit=True) as connection:
        for name, value in (("extract_notes", "on"), ("llm_model", "m"), ("extract", WITHOUT_SPACY)):
            connection.execute("SELECT pgrecall.set_setting(%s, %s)", [name, value])
    run_ours("inferred", model, dsn, tmp_path)
    model.script = _noted
    assert read_all(dsn)["read_for_notes"] == 3
    with Memory(dsn) as memory:
        found = memory.get_all(filters={"user_id": "priya"})
    [kept] = [one for one in found["results"] if one["memory"] == KEPT]
    assert comparable(kept) == comparable(
        {**theirs["inferred"]["get all"]["results"][0], "actor_id": "priya"}
    )


def _noted(asked: Asked) -> Reply:
    ids = [row["id"] for row in asked.rows if "allergic" in row["text"]]
    return completion({"notes": [{"messages": ids, "text": KEPT}] if ids else []})


def texts(outcome: dict[str, Any]) -> list[str]:
    return sorted(one["memory"] for one in outcome["results"])
