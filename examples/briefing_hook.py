"""Brief an agent before each turn: a hook that gets the user's prompt and prints what memory knows about it.

It reads one JSON object with the key `prompt` from standard input, as hooks of the kind UserPromptSubmit get
it, and prints text for the agent's context. It never blocks the turn: whatever fails, it prints
nothing and ends with 0. docs/mcp.md says how to set it up.
"""

from __future__ import annotations

import json
import sys

from pgrecall import Client

LONGEST = 2000
"""Characters of the prompt that are asked with: the rest is more often a pasted file than a question."""
SECONDS = 3.0


def main() -> None:
    """Read the prompt, print the briefing."""
    try:
        prompt = json.load(sys.stdin)["prompt"]
    except (ValueError, TypeError, KeyError):
        return
    if not isinstance(prompt, str) or not prompt.strip():
        return
    with Client(pool_max=1) as memory:
        # By an embedder, if one runs: to load the model here would take longer than the turn may wait.
        print(memory.briefing(prompt[:LONGEST], embed="daemon", timeout=SECONDS), end="")


if __name__ == "__main__":
    main()
