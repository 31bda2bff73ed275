"""The command: `python -m benchmarks names`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg

from benchmarks.quality.resources import Unavailable
from benchmarks.results import circumstances
from benchmarks.scratch import default_cache, scratch_database
from benchmarks.speed.shared import say, write
from pgrecall.admin.migrate import migrate

from .encoders import ENCODERS
from .pairs import halves, load
from .run import add_names, nearness, resolve, resolved_pairs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from .pairs import NamePair
    from .run import Resolved

__all__ = ["FORMAT", "KIND", "add_to"]

KIND = "names"
FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""

_RESAMPLES = 2000
_THRESHOLDS = (4, 5, 6, 7, 8, 9)
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("names", help="which names become one concept, against hand-made labels")
    parser.set_defaults(command=_names)
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of samples and intervals")
    parser.add_argument("--mistakes", action="store_true", help="print the mistakes in the tuning half only")
    parser.add_argument("--scale", type=int, default=0, metavar="N", help="also resolve N made-up names")
    parser.add_argument("--dsn", help="make the scratch database on this server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")


def _names(options: argparse.Namespace) -> int:
    tuning, held = halves(load())
    result: dict[str, Any] = {
        **circumstances(options.seed, KIND, FORMAT),
        "pairs": {
            name: {"all": len(part), "same": sum(pair.is_same for pair in part)}
            for name, part in (("tuning", tuning), ("held_out", held))
        },
        "systems": {},
        "embeddings_alone": {},
        "not_run": {},
    }
    with scratch_database(options.dsn, default_cache(), keep=False, say=say) as dsn:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as connection:
            for name, encode in ENCODERS.items():
                try:
                    encoded = encode(_all_names((*tuning, *held)))
                except Unavailable as error:
                    result["not_run"][name] = str(error)
                    continue
                parts = {"held_out": held, "tuning": tuning}
                result["systems"][name] = {
                    part: _measure(connection, f"{name} {part}", pairs, encoded, options.seed)
                    for part, pairs in parts.items()
                    if part == "tuning" or not options.mistakes
                }
                if encoded is not None:
                    own = {one: encoded[one] for one in _all_names(held)}
                    result["embeddings_alone"][name] = _alone(own, held, options.seed)
                if options.mistakes:
                    _print_mistakes(tuning, resolved_pairs(connection, f"{name} tuning", tuning))
                say(f"{name}: {result['systems'][name]}")
            if options.scale:
                result["scale"] = _scale(connection, options.scale, options.seed)
                say(str(result["scale"]))
    write(options.json, result)
    return 0


def _all_names(pairs: Sequence[NamePair]) -> list[str]:
    return sorted({name for pair in pairs for name in (pair.one, pair.other)})


def _measure(
    connection: psycopg.Connection[Any],
    namespace: str,
    pairs: Sequence[NamePair],
    encoded: Mapping[str, NDArray[np.float32]] | None,
    seed: int,
) -> dict[str, Any]:
    """Resolve the names of the pairs, all in one namespace, and score the pairs."""
    connection.execute(
        "SELECT pgrecall.set_setting('extract_llm', %s), pgrecall.set_setting('llm_model', 'none')",
        ("off" if encoded is None else "on",),
    )
    add_names(connection, namespace, {name: p.type for p in pairs for name in (p.one, p.other)})
    if encoded is not None:
        rows = connection.execute(
            "SELECT c.id, c.name FROM pgrecall.concepts c WHERE c.namespace_id = pgrecall.namespace_id(%s)",
            (namespace,),
        ).fetchall()
        vectors = [str([float(value) for value in encoded[name]]) for _, name in rows]
        connection.execute(
            "SELECT pgrecall.embed_concepts(%s::bigint[], %s::text[])",
            ([number for number, _ in rows], vectors),
        )
    resolve(connection)
    return _score(pairs, resolved_pairs(connection, namespace, pairs), seed)


def _score(pairs: Sequence[NamePair], found: Sequence[Resolved], seed: int) -> dict[str, Any]:
    same = np.asarray([pair.is_same for pair in pairs])
    merged = np.asarray([one.method is not None for one in found])
    doubtful = np.asarray([one.is_doubtful for one in found]) & ~merged
    methods = sorted({one.method for one in found if one.method is not None})
    return {
        **_shares(same, merged, seed),
        "by_method": {
            method: {
                "right": sum(one.method == method and p.is_same for one, p in zip(found, pairs, strict=True)),
                "wrong": sum(
                    one.method == method and not p.is_same for one, p in zip(found, pairs, strict=True)
                ),
            }
            for method in methods
        },
        "by_domain": {
            domain: _counts(same[places], merged[places])
            for domain in sorted({pair.domain for pair in pairs})
            for places in [np.asarray([pair.domain == domain for pair in pairs])]
        },
        "asked": {"same": int((doubtful & same).sum()), "different": int((doubtful & ~same).sum())},
        "recall_if_answered_right": float(((merged | doubtful) & same).sum() / same.sum()),
    }


def _counts(same: NDArray[np.bool_], merged: NDArray[np.bool_]) -> dict[str, int]:
    return {
        "same": int(same.sum()),
        "merged": int((merged & same).sum()),
        "wrong": int((merged & ~same).sum()),
    }


def _shares(same: NDArray[np.bool_], merged: NDArray[np.bool_], seed: int) -> dict[str, Any]:
    """Return precision and recall, each with its 95 % interval over resampled pairs."""
    random_ = np.random.default_rng(seed)
    drawn = random_.integers(len(same), size=(_RESAMPLES, len(same)))
    right = (merged & same)[drawn].sum(axis=1)
    precisions = right / np.maximum(merged[drawn].sum(axis=1), 1)
    recalls = right / np.maximum(same[drawn].sum(axis=1), 1)
    hits = int((merged & same).sum())
    return {
        "right": hits,
        "merged": int(merged.sum()),
        "same": int(same.sum()),
        "precision": _share(hits / max(1, int(merged.sum())), precisions),
        "recall": _share(hits / max(1, int(same.sum())), recalls),
    }


def _share(value: float, resampled: NDArray[np.float64]) -> dict[str, Any]:
    low, high = np.percentile(resampled, (2.5, 97.5))
    return {"value": round(value, 4), "ci95": [round(float(low), 4), round(float(high), 4)]}


def _alone(
    vectors: Mapping[str, NDArray[np.float32]], pairs: Sequence[NamePair], seed: int
) -> dict[str, dict[str, Any]]:
    """Score merging by embeddings alone, at several thresholds in deviations; persons are left out."""
    things = [pair for pair in pairs if pair.type != "PERSON"]
    near = nearness(vectors, things, seed)
    same = np.asarray([pair.is_same for pair in things])
    return {
        str(threshold): {
            key: value for key, value in _shares(same, near >= threshold, seed).items() if key != "same"
        }
        for threshold in _THRESHOLDS
    }


def _scale(connection: psycopg.Connection[Any], count: int, seed: int) -> dict[str, Any]:
    """Resolve made-up names, a tenth of them a crowd that differs in few letters; measure time and size."""
    connection.execute("SELECT pgrecall.set_setting('extract_llm', 'off')")
    random_ = random.Random(seed)  # noqa: S311
    names = {f"crowdname{random_.choice(_SYLLABLES)}{random_.choice(_SYLLABLES)}" for _ in range(count // 10)}
    while len(names) < count:
        words = random_.randint(1, 3)
        names.add(
            " ".join("".join(random_.choices(_SYLLABLES, k=random_.randint(2, 5))) for _ in range(words))
        )
    made = sorted(names)
    for first in range(0, len(made), 1000):
        add_names(connection, "scale", dict.fromkeys(made[first : first + 1000], "CONCEPT"))
    half = resolve(connection)
    # Again, with every neighbour there: what a name costs in a full namespace.
    connection.execute(
        "UPDATE pgrecall.concepts c SET resolved_at = NULL "
        "WHERE c.id IN (SELECT x.id FROM pgrecall.concepts x "
        "WHERE x.namespace_id = pgrecall.namespace_id('scale') ORDER BY md5(x.key) LIMIT 1000)"
    )
    again = resolve(connection)
    [(keys, bytes_)] = connection.execute(
        "SELECT (SELECT count(*) FROM pgrecall.concept_keys), pg_total_relation_size('pgrecall.concept_keys')"
    ).fetchall()
    return {
        "names": len(made),
        "seconds": round(half, 1),
        "ms_per_name": round(1000 * half / len(made), 2),
        "ms_per_name_in_a_full_namespace": round(again, 2),
        "keys": keys,
        "bytes": bytes_,
    }


def _print_mistakes(pairs: Sequence[NamePair], found: Sequence[Resolved]) -> None:
    for pair, one in zip(pairs, found, strict=True):
        if (one.method is not None) != pair.is_same:
            print("wrong" if one.method else "missed", pair.domain, pair.one, "|", pair.other, one)
