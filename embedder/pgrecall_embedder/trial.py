"""Try a model: `python -m pgrecall_embedder.trial JSON` loads it and embeds a word.

`pgrecall reembed` does so before it changes anything. JSON is an object with the fields of `ModelSpec`. If
the model cannot embed, a JSON object with `error` and `hint` goes to standard output, and the exit code is 1.
"""

from __future__ import annotations

import json
import sys

from pgrecall.errors import PgrecallError

from .logs import describe
from .providers import ModelSpec, load_provider

_WORD = "trial"


def main() -> int:
    """Try the model that the command line names; returns the exit code."""
    try:
        provider = load_provider(ModelSpec(0, **json.loads(sys.argv[1])), 1)
        try:
            provider.embed_documents([_WORD])
        finally:
            provider.close()
    except PgrecallError as error:
        print(json.dumps({"error": error.message, "hint": error.hint}))
        return 1
    except Exception as error:  # noqa: BLE001 - whatever a library raises, the model cannot be used
        print(json.dumps({"error": describe(error), "hint": None}))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
