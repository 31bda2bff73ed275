"""The cross-encoder, a real one of random weights, and reranking from the command line."""

from __future__ import annotations

import json
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from pgrecall import Client, CrossEncoderReranker, PgrecallError, Reranker
from pgrecall.cli import main
from support.reranking import (
    KEY,
    NOT_COUNTED,
    Endpoint,
    growing,
    ids,
    make_cross_encoder,
    recalled,
    remember_tea,
    result_of,
    stage_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cross-encoder of a few thousand random weights."""
    return make_cross_encoder(tmp_path_factory.mktemp("cross-encoder"))


# -- a cross-encoder


def test_a_cross_encoder_orders(cross_encoder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    reranker = CrossEncoderReranker(cross_encoder)
    reranker.load()
    assert isinstance(reranker, Reranker)
    words = ("green", "black", "like", "tea")
    memories = [recalled(number + 1, f"{words[number % 4]} tea " * (number + 1)) for number in range(20)]
    reranked = stage_of(reranker, timeout=60).apply(result_of(*memories), 20)
    assert reranked.notice is None
    scores = [memory.rerank_score for memory in reranked if memory.rerank_score is not None]
    assert len(scores) == 20
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 10
    # The same pair gets the same score, whatever it is asked beside.
    again = reranker.score(reranked.query, [reranked[3].content])
    assert again == pytest.approx([scores[3]], abs=1e-5)
    assert reranker.score("tea", []) == []
    assert capfd.readouterr().err == ""


def test_a_cross_encoder_reads_what_is_longer_than_it_can(cross_encoder: Path) -> None:
    (score,) = CrossEncoderReranker(cross_encoder).score("tea", ["green tea " * 2_000])
    assert math.isfinite(score)


def test_a_busy_cross_encoder_gives_up(cross_encoder: Path) -> None:
    reranker = CrossEncoderReranker(cross_encoder)
    with reranker._busy, pytest.raises(PgrecallError, match="busy"):
        reranker.score("tea", ["green"], timeout=0.05)
    assert len(reranker.score("tea", ["green"], timeout=60)) == 1


def test_a_cross_encoder_stops_when_its_time_is_over(
    cross_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = CrossEncoderReranker(cross_encoder)
    reranker.load()
    now = iter(range(100))
    monkeypatch.setattr("pgrecall.query.reranking.monotonic", lambda: float(next(now)))
    with pytest.raises(PgrecallError, match="longer than 2 s"):
        reranker.score("tea", ["green"] * 100, timeout=2.0)
    assert reranker._busy.acquire(timeout=0)  # it was given back
    assert next(now) == 4  # two batches of the thirteen


def test_a_model_that_is_not_there_or_no_reranker(cross_encoder: Path, tmp_path: Path) -> None:
    for name in ("nobody/has-this", tmp_path):
        with pytest.raises(PgrecallError, match="cannot be loaded") as caught:
            CrossEncoderReranker(name).load()
        assert caught.value.hint
        reranked = stage_of(CrossEncoderReranker(name), timeout=60).apply(result_of(*growing(2)), 2)
        assert ids(reranked) == [1, 2]
        assert "cannot be loaded" in str(reranked.notice)
    transformers = pytest.importorskip("transformers")
    model = transformers.BertForSequenceClassification.from_pretrained(
        cross_encoder, num_labels=3, ignore_mismatched_sizes=True
    )
    model.save_pretrained(tmp_path / "three")
    transformers.BertTokenizer.from_pretrained(cross_encoder).save_pretrained(tmp_path / "three")
    with pytest.raises(PgrecallError, match="3 scores per pair"):
        CrossEncoderReranker(tmp_path / "three").load()


# -- the command line


@contextmanager
def _exits(code: int | None) -> Iterator[None]:
    with pytest.raises(SystemExit) as caught:
        yield
    assert caught.value.code == code


def test_the_command_line(
    client: Client,
    dsn: str,
    endpoint: Endpoint,
    cross_encoder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    remember_tea(client, 4)
    recall = ["recall", "tea", "--no-embed", "--dsn", dsn]
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setenv("PGRECALL_RERANK_API_KEY", KEY)
    with _exits(0):
        main([*recall, "--json", "--rerank", endpoint.url, "--rerank-model", "m"])
    found = json.loads(capsys.readouterr().out)
    assert [memory["content"].count("green") for memory in found] == [3, 2, 1, 0]
    assert endpoint.requests[0][1]["Authorization"] == f"Bearer {KEY}"
    with _exits(0):
        main([*recall, "--rerank", endpoint.url])
    assert "rerank" in capsys.readouterr().out
    endpoint.status = 500
    with _exits(0):
        main([*recall, "--rerank", endpoint.url])
    printed = capsys.readouterr()
    assert NOT_COUNTED in printed.err
    assert "rerank" not in printed.out
    with _exits(0):
        main([*recall, "--json", "--rerank", str(cross_encoder)])
    assert all(memory["rerank_score"] is not None for memory in json.loads(capsys.readouterr().out))
    for wrong in ("http://me:secret@host/", "/no/such/folder"):
        with _exits(1):
            main([*recall, "--rerank", wrong])
        printed = capsys.readouterr()
        assert printed.err.startswith("error: ")
        assert "secret" not in printed.err
