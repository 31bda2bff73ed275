"""Facts by a language model: batches, and every way to fail."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.errors import InvalidInput
from pgrecall_embedder.llm import (
    LlmUnavailable,
    Rejected,
)
from pgrecall_embedder.llm.prompts import FACTS_SCHEMA
from pgrecall_embedder.retry_after import retry_after_seconds
from pgrecall_extract.base import ENTITY_TYPES, Fact
from support.llm import (
    ANCHOR,
    CANARY,
    KEY,
    Asked,
    Reply,
    Server,
    assert_complete,
    client_of,
    completion,
    document,
    entries,
    extract,
    failure,
    pairs,
    row,
    served,
    workers,
)
from support.provider_servers import bomb
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[Server]:
    with served() as state:
        yield state


# -- a good answer


def test_facts_of_a_batch(server: Server) -> None:
    memories = [
        document(10, "Alice works at Acme.", title="A new job", speaker="Bob"),
        document(20, "Nothing to see here."),
    ]
    result = extract(server, memories)
    assert result.outcomes[10] == (
        Fact("Alice", "PERSON", "works at", "Acme", "ORG", 0.9, "llm", "Alice works at Acme."),
    )
    assert result.outcomes[20] == ()
    assert (result.unfinished, result.problem, result.cached, result.dropped) == ((), None, 0, {})
    [asked] = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    request = asked.json
    assert (request["model"], request["temperature"], request["stream"]) == ("m", 0.0, False)
    assert request["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "facts", "strict": True, "schema": FACTS_SCHEMA},
    }
    first, second = asked.rows
    assert {name: first[name] for name in first if name != "id"} == {
        "title": "A new job",
        "speaker": "Bob",
        "said_on": "2024-05-07, Tuesday",
        "text": "Alice works at Acme.",
    }
    assert {first["id"], second["id"]}.isdisjoint({"10", "20"})
    assert first["id"] != second["id"]


def test_the_schema_is_one_that_strict_takes() -> None:
    """Every object says that all of its properties, and no others, are there."""

    def objects(schema: Any) -> Iterator[dict[str, Any]]:
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                yield schema
            for value in schema.values():
                yield from objects(value)

    found = list(objects(FACTS_SCHEMA))
    assert len(found) == 3
    for schema in found:
        assert schema["required"] == list(schema["properties"])
        assert schema["additionalProperties"] is False
    assert found[2]["properties"]["subject_type"]["enum"] == list(ENTITY_TYPES)


def test_batches_by_tokens_and_by_namespace(server: Server) -> None:
    memories = [
        document(number, f"{number} " + "word " * 80, namespace_id=number % 2) for number in range(1, 9)
    ]
    memories.append(document(9, "long " * 2000))
    result = extract(server, memories, batch_tokens=400)
    assert set(result.outcomes) == set(range(1, 10))
    numbers = [[text.split()[0] for text in batch] for batch in server.batches]
    assert numbers == [["2", "4"], ["6", "8"], ["long"], ["1", "3"], ["5", "7"]]


def test_many_requests_at_once_over_few_connections(server: Server) -> None:
    result = extract(server, workers(60), client=client_of(server, max_concurrency=3), batch_tokens=100)
    assert_complete(result, 60)
    assert len(server.asked) == 60
    assert server.connections <= 3


def test_of_a_long_memory_only_the_begin_is_read(server: Server) -> None:
    result = extract(server, [document(1, "Alice works at Acme. " + "x " * 20_000 + " Eve works at Globex.")])
    assert len(server.batches[0][0]) == 20_000
    assert pairs(result, 1) == [("Alice", "works at", "Acme")]


def test_memories_that_say_the_same_are_asked_about_once(server: Server) -> None:
    memories = [document(1, "Alice works at Acme."), document(2, "Alice works at Acme.")]
    result = extract(server, memories)
    assert server.batches == [["Alice works at Acme."]]
    assert pairs(result, 1) == pairs(result, 2) == [("Alice", "works at", "Acme")]


def test_arguments(server: Server) -> None:
    with pytest.raises(InvalidInput, match="batch_tokens"):
        extract(server, workers(1), batch_tokens=0)
    with pytest.raises(InvalidInput, match="twice"):
        extract(server, [*workers(1), *workers(1)])
    assert extract(server, []).outcomes == {}
    assert server.asked == []


# -- answers that are of no use


@pytest.mark.parametrize(
    "bad",
    [
        completion('{"memories": [{"id": '),
        completion("Here you are!"),
        completion(None),
        completion(""),
        completion("[" * 100_000),
        completion('{"memories": NaN}'),
        completion([]),
        completion({"memories": {}}),
        completion({"facts": []}),
        completion({"memories": []}, finish_reason="length"),
        completion({"memories": []}, finish_reason="content_filter"),
        completion(None, refusal=f"I cannot speak of {CANARY}"),
        failure(400, "context_length_exceeded"),
        failure(413),
        failure(500, "the request exceeds the available context size"),
        Reply(body=b" " * 200_000),
    ],
    ids=range(16),
)
def test_a_bad_answer_costs_only_the_memory_that_is_to_blame(server: Server, bad: Reply) -> None:
    """Halved down to it; the others keep their facts."""
    memories = workers(8)
    memories[4] = replace(memories[4], content=f"{memories[4].content} {CANARY}")
    server.script = lambda asked: bad if CANARY in str(asked.rows) else completion(entries(asked.rows))
    result = extract(server, memories, client=client_of(server, max_answer_bytes=100_000))
    assert_complete(result, 8, 5)
    assert [len(batch) for batch in server.batches] == [8, 4, 4, 2, 1, 1, 2]
    assert CANARY not in repr(result)


def test_a_cut_off_answer_halves_the_batch(server: Server) -> None:
    def script(asked: Asked) -> Reply:
        whole = entries(asked.rows)
        if len(asked.rows) > 2:
            return completion(json.dumps(whole)[:200], finish_reason="length")
        return completion(whole)

    server.script = script
    assert_complete(extract(server, workers(8)), 8)
    assert [len(batch) for batch in server.batches] == [8, 4, 2, 2, 4, 2, 2]


def test_what_is_left_out_is_asked_again_once(server: Server) -> None:
    server.script = lambda asked: completion(
        {"memories": entries(asked.rows)["memories"][: 6 if len(asked.rows) == 8 else None]}
    )
    assert_complete(extract(server, workers(8)), 8)
    assert [len(batch) for batch in server.batches] == [8, 2]


def test_what_is_always_left_out_is_rejected(server: Server) -> None:
    def script(asked: Asked) -> Reply:
        said = entries([one for one in asked.rows if "Person3 " not in one["text"]])
        return completion(said)

    server.script = script
    result = extract(server, workers(4))
    assert_complete(result, 4, 3)
    assert result.outcomes[3] == Rejected("the language model leaves it out")
    assert [len(batch) for batch in server.batches] == [4, 1]


@pytest.mark.parametrize("said", [{"memories": []}, {"memories": [{"id": "7", "facts": [row()]}, 3, {}]}])
def test_a_model_that_leaves_all_out(server: Server, said: object) -> None:
    server.script = lambda _: completion(said)
    result = extract(server, workers(2))
    assert_complete(result, 2, 1, 2)
    assert [len(batch) for batch in server.batches] == [2, 1, 1]


@pytest.mark.parametrize(
    "content", ["```json\n{}\n```", "```\n{}\n```", "<think>{{ hm }}</think>\n{}", "  {}\n"]
)
def test_what_servers_without_schemas_put_around_json(server: Server, content: str) -> None:
    server.script = lambda asked: completion(content.replace("{}", json.dumps(entries(asked.rows))))
    assert_complete(extract(server, workers(2)), 2)


# -- a server that fails


@pytest.mark.parametrize("status", [408, 500, 502, 503, 529])
def test_a_failure_that_passes(server: Server, status: int) -> None:
    server.first = [failure(status), failure(status)]
    assert_complete(extract(server, workers(3)), 3)
    assert len(server.asked) == 3


def test_a_failure_that_does_not_pass_is_no_memorys_fault(server: Server) -> None:
    server.script = lambda asked: (
        failure(500) if "Person1 " not in str(asked.rows) else completion(entries(asked.rows))
    )
    client = client_of(server, max_retries=2)
    result = extract(server, workers(5), client=client, batch_tokens=60)
    assert pairs(result, 1) == [("Person1", "works at", "Firm1")]
    assert set(result.outcomes) == {1}
    assert result.unfinished == (2, 3, 4, 5)
    assert isinstance(result.problem, LlmUnavailable)
    assert "500" in str(result.problem)
    # The batches behind are not even tried. A short question told that the text was not to blame.
    assert len(server.asked) == 1 + 3 + 1


@pytest.mark.parametrize("after", ["0", format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True), None])
def test_a_busy_server_is_waited_for(server: Server, after: str | None) -> None:
    """As often as it asks: being busy is no failure."""
    headers = {} if after is None else {"Retry-After": after}
    server.first = [failure(429, headers=headers) for _ in range(6)]
    assert_complete(extract(server, workers(3), client=client_of(server, max_retries=0)), 3)
    assert len(server.asked) == 7


def test_a_server_that_is_busy_for_long_is_left_alone(server: Server) -> None:
    server.script = lambda _: failure(429, headers={"Retry-After": "3600"})
    result = extract(server, workers(3))
    assert result.outcomes == {}
    assert result.unfinished == (1, 2, 3)
    assert result.problem is not None
    assert result.problem.retry_after == 3600
    assert len(server.asked) == 1


def test_a_server_that_is_always_busy_is_left_some_day(server: Server) -> None:
    server.script = lambda _: failure(429, headers={"Retry-After": "0"})
    result = extract(server, workers(1), client=client_of(server, max_wait=5))
    assert result.unfinished == (1,)
    assert len(server.asked) == 6


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("Tue, 07 May 2024 22:31:00 GMT", 60.0),
        ("Tue, 07 May 2024 22:29:00 GMT", 0.0),
        ("Wed, 08 May 2024 00:31:00 +0200", 60.0),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("٣", None),
        ("Tue, 99 May 2024 22:31:00 GMT", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header, ANCHOR) == seconds


def test_a_server_that_is_slow(server: Server) -> None:
    def script(asked: Asked) -> Reply:
        server.released.wait(60)
        return completion(entries(asked.rows))

    server.script = script
    result = extract(server, workers(1), client=client_of(server, timeout=1, max_retries=1))
    assert result.unfinished == (1,)
    assert str(result.problem) == "the language model's server took longer than 1 s"
    # The server may notice a request after the client has given it up. The third is short, to see if the text is to blame.
    until(lambda: len(server.asked) >= 3)
    assert len(server.asked) == 3


def test_a_server_that_sends_a_byte_now_and_then(server: Server) -> None:
    """Each read is quick; only a limit for the whole of it ends this."""
    server.script = lambda _: Reply(pieces=[b" "] * 3000, pause=0.02)
    result = extract(server, workers(1), client=client_of(server, timeout=0.3, max_retries=0))
    assert "took longer than 0.3 s" in str(result.problem)


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # nobody listens
        server = Server()
        server.url = f"http://127.0.0.1:{bound.getsockname()[1]}/v1"
        result = extract(server, workers(2), client=client_of(server, max_retries=2))
    assert result.unfinished == (1, 2)
    assert str(result.problem) == "the language model's server cannot be reached (ConnectError)"


def test_a_huge_answer_is_not_read_to_its_end(server: Server) -> None:
    server.script = lambda _: Reply(pieces=[b" " * 65_536] * 4000)
    result = extract(server, workers(1), client=client_of(server, max_answer_bytes=100_000))
    assert result.outcomes[1] == Rejected("the language model's server answered with more than 100000 bytes")


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_compressed_answer_is_not_unpacked(server: Server, encoding: str) -> None:
    """Some kilobytes could fill the memory."""
    server.script = lambda _: Reply(body=bomb(encoding), headers={"Content-Encoding": encoding})
    result = extract(server, workers(1))
    assert result.outcomes[1] == Rejected(
        "the language model's server answered compressed, which it was asked not to"
    )
    assert server.asked[0].headers["Accept-Encoding"] == "identity"
