"""The background of embeddings: when it is measured, and that recall's dense score does not depend on the encoder's scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pytest

from support.memories import call, remember_many, stored
from support.ranking import ids, ranking

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psycopg import Connection

pytestmark = pytest.mark.rollback

WORKER = UUID(int=1)
DIMENSION = 384


def unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors of length 1 in the same directions."""
    found: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return found


def drawn(seed: int, count: int) -> NDArray[np.float64]:
    """Vectors in random directions."""
    return unit(np.random.default_rng(seed).normal(size=(count, DIMENSION)))


def text(vector: NDArray[np.float64]) -> str:
    return "[" + ",".join(f"{number:.6f}" for number in vector) + "]"


def embed(
    conn: Connection[Any], contents: list[str], vectors: NDArray[np.float64], namespace: str = "default"
) -> list[int]:
    """One memory for each text, embedded by a worker in one batch."""
    numbers = remember_many(conn, [{"content": content, "namespace": namespace} for content in contents])
    conn.execute("SELECT pgrecall.claim(%s, 1000, '1 minute')", (WORKER,))
    hashes = [stored(conn, number)["content_hash"] for number in numbers]
    assert call(conn, "pgrecall.complete", WORKER, numbers, hashes, [text(row) for row in vectors]) == len(
        numbers
    )
    return numbers


def store(
    conn: Connection[Any], vectors: NDArray[np.float64], namespace: str = "default", first: int = 0
) -> list[int]:
    """One memory for each vector, with texts counted from `first`."""
    return embed(conn, [f"owl {first + place}" for place in range(len(vectors))], vectors, namespace)


def background(conn: Connection[Any], namespace: str = "default") -> tuple[Any, ...] | None:
    query = (
        "SELECT mean::text, deviation, sample_size, last_key FROM pgrecall.embedding_backgrounds "
        "WHERE namespace_id = pgrecall.namespace_id(%s)"
    )
    return conn.execute(query, (namespace,)).fetchone()


def test_it_is_measured_from_twenty_embeddings_on(conn: Connection[Any]) -> None:
    vectors = drawn(1, 40)
    store(conn, vectors[:19])
    assert background(conn) is None
    store(conn, vectors[19:20], first=19)
    first = background(conn)
    assert first is not None
    assert first[2:] == (20, None)
    mean = vectors[:20].mean(axis=0)
    assert np.fromstring(first[0].strip("[]"), sep=",") == pytest.approx(mean, abs=1e-3)
    # Centred random directions in d dimensions: cosines of about 1 / sqrt(d), and -1 / 19 from their sum of zero.
    assert first[1] == pytest.approx((1 / DIMENSION + 1 / 19**2) ** 0.5, rel=0.25)
    store(conn, vectors[20:40], first=20)
    found = background(conn)
    assert found is not None
    assert found[2] == 40


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.parametrize("count", [25, 130, 700])
def test_the_same_memories_have_the_same_one(conn: Connection[Any], count: int) -> None:
    """In whatever order they are embedded, and in batches of whatever size; other ids do not matter either."""
    vectors = drawn(7, count)
    measured = []
    for batch, seed in ((count, 0), (1 if count < 100 else 37, 1), (50, 2), (7 if count < 300 else 111, 3)):
        name = f"batches of {batch}"
        call(conn, "pgrecall.create_namespace", name)
        order = np.random.default_rng(seed).permutation(count)
        for start in range(0, count, batch):
            chosen = order[start : start + batch]
            contents = [f"owl {place}" for place in chosen]
            embed(conn, contents, vectors[chosen], name)
        measured.append(background(conn, name))
    assert measured[0] is not None
    assert measured[0][2] == min(count, 400)
    assert all(found == measured[0] for found in measured)


def test_a_text_that_is_stored_often_counts_once(conn: Connection[Any]) -> None:
    vectors = drawn(8, 30)
    store(conn, vectors)
    once = background(conn)
    embed(conn, ["owl 3"] * 200, np.repeat(vectors[3:4], 200, axis=0))
    assert background(conn) == once


@pytest.mark.parametrize("change", ["forget", "supersede", "restore"])
def test_a_change_counts_once_it_is_in_the_postings(conn: Connection[Any], change: str) -> None:
    """Not only when the next memory is embedded."""
    vectors = drawn(11, 40)
    numbers = store(conn, vectors)
    before = background(conn)
    if change == "supersede":
        call(conn, "supersede", numbers[3], successor=numbers[4])
    else:
        call(conn, "forget", numbers[3])
    call(conn, "pgrecall.flush_pending_postings", 1)
    assert background(conn) != before
    if change == "restore":
        call(conn, "restore", numbers[3])
        call(conn, "pgrecall.flush_pending_postings", 1)
        assert background(conn) == before


def test_superseded_and_forgotten_memories_do_not_count(conn: Connection[Any]) -> None:
    vectors = drawn(9, 33)
    call(conn, "pgrecall.create_namespace", "never had them")
    store(conn, vectors[:30], "never had them")
    numbers = store(conn, vectors[:32])
    call(conn, "forget", numbers[30])
    call(conn, "supersede", numbers[31], successor=numbers[0])
    call(conn, "forget", store(conn, vectors[32:], first=32)[0])
    embed(conn, ["owl 0"], vectors[:1])
    assert background(conn) == background(conn, "never had them")


@pytest.mark.slow
@pytest.mark.pg15
def test_of_many_texts_a_bounded_number_is_looked_at(conn: Connection[Any]) -> None:
    store(conn, drawn(10, 1500))
    found = background(conn)
    assert found is not None
    assert found[2] == 400
    assert found[3] is not None
    unseen = conn.execute(
        "SELECT count(*) FROM pgrecall.memories WHERE substring(content_hash FROM 1 FOR 4) > %s", (found[3],)
    ).fetchone()
    assert unseen == (1100,)


def test_the_scale_of_an_encoder_does_not_matter(conn: Connection[Any]) -> None:
    """A common part in every embedding, as some encoders have, changes cosines and not scores."""
    plain = drawn(2, 50)
    common = drawn(3, 1)[0]
    shifted = unit(plain + 2.5 * common)
    query = unit(plain[7] + 0.3 * drawn(4, 1)[0])
    found = []
    for place, (vectors, vector) in enumerate(((plain, query), (shifted, unit(query + 2.5 * common)))):
        name = f"encoder {place}"
        call(conn, "pgrecall.create_namespace", name)
        numbers = store(conn, vectors, name)
        rows = ranking(conn, "", text(vector), namespace=name, k=5)
        raw = ranking(conn, "", text(vector), namespace=name, k=5, dense_deviations=0)
        assert ids(rows)[0] == ids(raw)[0] == numbers[7]
        found.append(([row["score"] for row in rows], [row["score"] for row in raw]))
    (scores, cosines), (shifted_scores, shifted_cosines) = found
    assert min(shifted_cosines) > 0.8 > max(cosines[1:])
    assert shifted_scores == pytest.approx(scores, abs=0.1)
    assert scores[0] - scores[1] > 2 * (shifted_cosines[0] - shifted_cosines[1])


def test_erasing_a_memory_measures_it_again(conn: Connection[Any]) -> None:
    vectors = drawn(5, 40)
    numbers = store(conn, vectors)
    call(conn, "erase", numbers[0])
    found = background(conn)
    assert found is not None
    assert found[2:] == (39, None)
    assert np.fromstring(found[0].strip("[]"), sep=",") == pytest.approx(vectors[1:].mean(axis=0), abs=1e-3)


def test_embeddings_all_alike_have_none(conn: Connection[Any]) -> None:
    store(conn, np.repeat(drawn(6, 1), 30, axis=0))
    assert background(conn) is None


@pytest.mark.parametrize(
    ("query", "speaker", "is_named"),
    [
        ("what did Priya say", "Priya", True),
        ("PRIYA's dog", "Priya Rao", True),
        ("what about Rao", "Priya Rao", False),
        ("priyanka", "Priya", False),
        ("a b", "a", False),
        ("anything", None, None),
        ("", "Priya", False),
        ("is there an issue with the boiler?", "An Nguyen", False),
        ("what did An Nguyen say?", "An Nguyen", True),
        ("what will it cost?", "Will", False),
        ("what did Will Byers say?", "Will Byers", True),
        ("is the doctor, Dr Chen, in?", "Dr Weiss", False),
        ("what did Dr Weiss say?", "Dr Weiss", True),
        ("what did the coach say?", "The Coach", True),
        ("田中さんは何と言いましたか", "田中", True),
        ("田中太郎さんの犬", "田中太郎", True),
        ("鈴木さんの犬", "田中", False),
        ("我问李雷的时候他说了什么", "李雷", True),
        ("민수가 뭐라고 했지?", "민수", True),
        ("สมชายพูดว่าอะไร", "สมชาย", True),
        ("สมชายพูดว่าอะไร", "สมหญิง", False),
        ("что сказал Пётр?", "Пётр", True),
        ("क्या राम ने कहा", "रा", False),
    ],
)
def test_who_is_named(conn: Connection[Any], query: str, speaker: str | None, is_named: bool | None) -> None:
    statement = "SELECT _pgrecall.names_speaker(pgrecall.normalize_name(%s), %s)"
    assert conn.execute(statement, (query, speaker)).fetchone() == (is_named,)


def test_what_another_speaker_said_counts_less(conn: Connection[Any]) -> None:
    """Only if the query names a speaker; a memory without one keeps its score."""
    other, named, nobody = remember_many(
        conn,
        [{"content": "the dog is wet", "speaker": speaker} for speaker in ("Tomasz", "Priya", None)],
    )
    assert ids(ranking(conn, "Priya dog")) == [other, named, nobody]
    assert ids(ranking(conn, "Priya dog", other_speaker_factor=0.8)) == [named, nobody, other]
    assert ids(ranking(conn, "Hanna dog", other_speaker_factor=0.8)) == [other, named, nobody]
    query = "SELECT id, speaker_factor FROM recall_explain('Priya dog')"
    assert dict(conn.execute(query).fetchall()) == {other: 0.8, named: 1, nobody: 1}
