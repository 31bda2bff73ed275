"""A script written for mem0. Only its import differs: `python mem0_script.py mem0|pgrecall CONFIGS`.

CONFIGS has the settings of each part that is to run. It prints a line of JSON for each part, its name, and one for
each call: the name of the step, and what the call returned or the kind of its error.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARIES = {"mem0": "mem0", "pgrecall": "pgrecall.contrib.mem0"}
TALK = [
    {"role": "system", "content": "You are a waiter"},
    {"role": "user", "content": "I am allergic to peanuts", "name": "priya"},
    {"role": "assistant", "content": "Noted, no peanuts on your plate"},
]
PRIYA, BOB = {"user_id": "priya"}, {"user_id": "bob"}


def step(name: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call a method, and print what came of it."""
    try:
        result = call(*arguments, **options)
    except Exception as error:  # noqa: BLE001 - the kind of the error is what is compared
        kind = (
            "ValueError" if isinstance(error, ValueError) or "Validation" in type(error).__name__ else "other"
        )
        print(json.dumps({"step": name, "error": kind, "message": str(error)}), flush=True)
        return None
    print(json.dumps({"step": name, "result": result}), flush=True)
    return result


def as_given(memory: Any) -> None:
    """Memories that are stored as they are given."""
    raw = {"infer": False}
    added = step(
        "add a text", memory.add, "I like tea", **PRIYA, metadata={"kind": "taste", "rating": 4}, **raw
    )
    first = added["results"][0]["id"]
    step("add a conversation", memory.add, TALK, **PRIYA, run_id="lunch", **raw)
    step("add it again", memory.add, TALK[1:2], **PRIYA, run_id="lunch", **raw)
    step("add a message", memory.add, {"role": "user", "content": "Trains are slow"}, agent_id="a", **raw)
    step(
        "add of another",
        memory.add,
        "I like tea too",
        **BOB,
        metadata={"user_id": "priya", "kind": "x"},
        **raw,
    )
    step("add to the agent alone", memory.add, "Tea is hot", agent_id="a", metadata=PRIYA, **raw)
    step("add with a date", memory.add, "Old tea", **BOB, expiration_date="2020-01-31", **raw)
    step("add with a far date", memory.add, TALK[1:], **BOB, expiration_date="2999-01-31", **raw)

    step("search", memory.search, "tea", filters=PRIYA, top_k=1)
    step(
        "search a run", memory.search, "peanuts on your plate", filters={**PRIYA, "run_id": "lunch"}, top_k=1
    )
    step("search by metadata", memory.search, "tea", filters={**PRIYA, "rating": {"gte": 4}})
    step("search by AND", memory.search, "tea", filters={"AND": [PRIYA, {"kind": "taste"}], **PRIYA})
    step("search what has expired", memory.search, "Old tea", filters=BOB, show_expired=True, top_k=1)
    step("search nothing", memory.search, "tea", filters={"user_id": "nobody"})
    step("search none", memory.search, "tea", filters=PRIYA, threshold=1.0)
    step("get", memory.get, first)
    for name, filters in (
        ("priya", PRIYA),
        ("bob", BOB),
        ("a", {"agent_id": "a"}),
        ("lunch", {"run_id": "lunch"}),
    ):
        step(f"get all of {name}", memory.get_all, filters=filters)
    step("get all with a number", lambda: len(memory.get_all(filters=PRIYA, top_k=2)["results"]))
    step("get all with what has expired", memory.get_all, filters=BOB, show_expired=True)

    step(
        "update", memory.update, first, text="I like green tea", metadata={"rating": 5, "user_id": "mallory"}
    )
    step("update with data", memory.update, first, data="I like black tea")
    step("update the date", memory.update, first, expiration_date="2999-05-06")
    step("get what was updated", memory.get, first)
    step("search what was updated", memory.search, "black tea", filters=PRIYA, top_k=1)
    step("take the date away", memory.update, first, expiration_date=None)
    step("get without the date", memory.get, first)
    step("delete", memory.delete, first)
    step("get what was deleted", memory.get, first)
    step("history", memory.history, first)
    named = memory.get_all(filters={"run_id": "lunch"})["results"]
    step(
        "history of a message", memory.history, next(one["id"] for one in named if one["role"] == "assistant")
    )
    step("delete again", memory.delete, first)
    step("update what was deleted", memory.update, first, text="tea")
    step("delete a run", memory.delete_all, user_id="priya", run_id="lunch")
    step("get all after it", memory.get_all, filters=PRIYA)
    step("delete a user", memory.delete_all, user_id="bob")
    step("get all of the deleted", memory.get_all, filters=BOB, show_expired=True)
    step("get all of the rest", memory.get_all, filters={"agent_id": "a"})


def errors(memory: Any) -> None:
    """Calls that are refused."""
    step("no id", memory.add, "tea", infer=False)
    step("a blank id", memory.add, "tea", user_id=" ", infer=False)
    step("an id with a space", memory.add, "tea", user_id="a b", infer=False)
    step("an id that is a number", memory.add, "tea", user_id=7, infer=False)
    step("all of a number", memory.get_all, filters={"user_id": 7})
    step("no messages", memory.add, 7, **PRIYA, infer=False)
    step("no such date", memory.add, "tea", **PRIYA, expiration_date="soon", infer=False)
    step("a number as a date", memory.add, "tea", **PRIYA, expiration_date=7, infer=False)
    step("no such type", memory.add, "tea", **PRIYA, memory_type="x", infer=False)
    step("search without filters", memory.search, "tea")
    step("search with other filters", memory.search, "tea", filters={"kind": "x"})
    step("search beside filters", memory.search, "tea", user_id="priya")
    step("search for nothing", memory.search, "  ", filters=PRIYA)
    step("a high threshold", memory.search, "tea", filters=PRIYA, threshold=2)
    step("a negative number", memory.search, "tea", filters=PRIYA, top_k=-1)
    step("list a negative number", memory.get_all, filters=PRIYA, top_k=-1)
    step("list beside filters", memory.get_all, user_id="priya")
    step(
        "search by an unknown operator",
        memory.search,
        "tea",
        filters={**PRIYA, "AND": [{"kind": {"near": 1}}]},
    )
    step("delete without an id", memory.delete_all)
    step("update nothing", memory.update, memory.get_all(filters={"user_id": 7})["results"][0]["id"])
    step("reset", memory.reset)
    step("all after it", memory.get_all, filters={"user_id": "7"})


def inferred(memory: Any) -> None:
    """A conversation that the library reads."""
    step("add", memory.add, TALK, **PRIYA, run_id="lunch")
    step("add again", memory.add, TALK, **PRIYA, run_id="lunch")
    step("add a text", memory.add, "I like tea", **PRIYA)
    step("add the text again", memory.add, "I like tea", **PRIYA)
    step("get all", memory.get_all, filters=PRIYA)
    step("search", memory.search, "What is Priya allergic to?", filters=PRIYA)


def main(library: str, configs: str) -> None:
    """Run the script."""
    memories = importlib.import_module(LIBRARIES[library]).Memory
    for part, config in json.loads(configs).items():
        print(json.dumps({"part": part}), flush=True)
        with memories.from_config(config) as memory:
            {"as_given": as_given, "errors": errors, "inferred": inferred}[part](memory)


if __name__ == "__main__":
    main(*sys.argv[1:])
