"""The sample data in examples/sample keeps the promises its README makes."""

import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample"
STRATA = ("exact", "paraphrase", "multi-hop")
MAX_OVERLAP = 0.18

# key -> type, for every key a memory may have
MEMORY_SHAPE: dict[str, type | tuple[type, ...]] = {
    "id": str,
    "content": str,
    "title": str,
    "lang": str,
    "category": str,
    "tags": list,
    "expanded_keywords": list,
    "importance": (int, float),
    "metadata": dict,
    "session": str,
    "speaker": str,
    "position": int,
    "occurred_at": str,
    "is_sensitive": bool,
}
REQUIRED = {"id", "content", "category", "tags", "importance"}
LANGUAGES = {"german", "spanish", "french", "russian", "simple"}

Row = dict[str, Any]


def read(name: str) -> list[Row]:
    with (SAMPLE / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


CORPUS = read("corpus.jsonl")
QUERIES = read("queries.jsonl")
QRELS = read("qrels.jsonl")
MEMORIES: dict[str, Row] = {memory["id"]: memory for memory in CORPUS}
RELEVANT: dict[str, list[str]] = {row["query_id"]: row["relevant_ids"] for row in QRELS}
SUPERSEDED = {old for memory in CORPUS if (old := memory.get("metadata", {}).get("supersedes"))}


def stratum(name: str) -> list[Any]:
    """The questions of a stratum as parameters named by their ids."""
    return [pytest.param(query, id=query["query_id"]) for query in QUERIES if query["stratum"] == name]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def overlap(question: str, memory: Row) -> float:
    """Jaccard overlap of the word sets of a question and of title + content."""
    asked = set(words(question))
    told = set(words(memory.get("title", "") + " " + memory["content"]))
    return len(asked & told) / len(asked | told)


def contains(memory: Row, window: list[str]) -> bool:
    """Whether the title or the content has the words of the window in a row."""
    for text in (words(memory.get("title", "")), words(memory["content"])):
        if any(text[i : i + len(window)] == window for i in range(len(text) - len(window) + 1)):
            return True
    return False


def test_ids_are_unique_and_the_counts_are_right() -> None:
    assert 205 <= len(CORPUS) <= 215
    assert len(QUERIES) == len(QRELS) == 150
    assert len(MEMORIES) == len(CORPUS)
    assert len({query["query_id"] for query in QUERIES}) == 150
    assert len({query["text"] for query in QUERIES}) == 150
    assert len({memory["content"] for memory in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("memory", [pytest.param(memory, id=memory["id"]) for memory in CORPUS])
def test_memory_has_the_documented_shape(memory: Row) -> None:
    assert memory.keys() >= REQUIRED
    assert memory.keys() <= MEMORY_SHAPE.keys()
    for key, value in memory.items():
        assert isinstance(value, MEMORY_SHAPE[key]), key
    assert re.fullmatch(r"m\d{3}", memory["id"])
    assert 0 <= memory["importance"] <= 1
    for key in ("tags", "expanded_keywords"):
        entries = memory.get(key, [])
        assert all(isinstance(entry, str) and entry.strip() == entry != "" for entry in entries)
        assert len(set(entries)) == len(entries)
    assert len(memory["tags"]) <= 4
    if "lang" in memory:
        assert memory["lang"] in LANGUAGES
    # Chinese has no spaces, so words can only be counted in the other languages.
    if memory.get("lang") != "simple":
        assert 9 <= len(words(memory["content"])) <= 60
    if "occurred_at" in memory:
        datetime.fromisoformat(memory["occurred_at"])
    assert len({"session", "speaker", "position"} & memory.keys()) in (0, 3)


def test_sessions_count_their_turns_from_one() -> None:
    sessions: dict[str, list[int]] = {}
    for memory in CORPUS:
        if "session" in memory:
            sessions.setdefault(memory["session"], []).append(memory["position"])
    assert len(sessions) >= 4
    for positions in sessions.values():
        assert positions == list(range(1, len(positions) + 1))


def test_variety_of_the_memories() -> None:
    languages = {memory.get("lang", "english") for memory in CORPUS}
    assert len(languages) >= 4
    assert sum(memory.get("is_sensitive", False) for memory in CORPUS) >= 8
    assert sum(bool(memory["tags"]) for memory in CORPUS) > 0.9 * len(CORPUS)
    uses = Counter(tag for memory in CORPUS for tag in memory["tags"])
    assert sum(2 <= count <= 6 for count in uses.values()) > len(uses) / 2
    assert max(uses.values()) > 10
    assert min(uses.values()) == 1


def test_superseded_memories_exist_and_are_older() -> None:
    successors = [memory for memory in CORPUS if "supersedes" in memory.get("metadata", {})]
    assert len(successors) >= 10
    assert len(SUPERSEDED) == len(successors)
    for memory in successors:
        older = MEMORIES[memory["metadata"]["supersedes"]]
        assert older["id"] != memory["id"]
        # The day is enough: some times have no zone and cannot be compared with the others.
        assert older["occurred_at"][:10] < memory["occurred_at"][:10]


def test_questions_have_the_documented_shape() -> None:
    for query in QUERIES:
        assert query.keys() == {"query_id", "text", "stratum"}
        assert re.fullmatch(r"q\d{3}", query["query_id"])
        assert query["text"].strip() == query["text"] != ""
    assert Counter(query["stratum"] for query in QUERIES) == dict.fromkeys(STRATA, 50)


def test_every_question_has_existing_current_answers() -> None:
    assert [row["query_id"] for row in QRELS] == [query["query_id"] for query in QUERIES]
    for row in QRELS:
        assert row.keys() == {"query_id", "relevant_ids"}
        relevant = row["relevant_ids"]
        assert relevant
        assert len(set(relevant)) == len(relevant)
        assert set(relevant) <= MEMORIES.keys()
        assert not set(relevant) & SUPERSEDED


@pytest.mark.parametrize("query", stratum("exact"))
def test_exact_words_are_in_the_relevant_memories_and_nowhere_else(query: Row) -> None:
    quoted = re.findall(r'"([^"]+)"', query["text"])
    assert len(quoted) <= 1
    window = words(quoted[0] if quoted else query["text"])
    assert 4 <= len(window) <= 8
    holders = {memory["id"] for memory in CORPUS if contains(memory, window)}
    assert holders == set(RELEVANT[query["query_id"]])


@pytest.mark.parametrize("query", stratum("paraphrase"))
def test_paraphrase_avoids_the_words_of_its_answers(query: Row) -> None:
    for relevant in RELEVANT[query["query_id"]]:
        assert overlap(query["text"], MEMORIES[relevant]) <= MAX_OVERLAP, relevant


@pytest.mark.parametrize("query", stratum("multi-hop"))
def test_multi_hop_answers_are_joined_by_tags(query: Row) -> None:
    relevant = RELEVANT[query["query_id"]]
    assert len(relevant) >= 2
    reached, grown = {relevant[0]}, True
    while grown:
        tags = {tag for memory in reached for tag in MEMORIES[memory]["tags"]}
        near = {memory for memory in relevant if tags & set(MEMORIES[memory]["tags"])}
        grown = not near <= reached
        reached |= near
    assert reached == set(relevant)
