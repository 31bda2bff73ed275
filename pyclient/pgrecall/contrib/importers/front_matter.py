"""The front matter of a Markdown file: YAML, read without what makes it dangerous or surprising."""

from __future__ import annotations

import json
from typing import Any

from pgrecall.errors import InvalidInput
from pgrecall.installing import install_command

__all__ = ["read_front_matter"]

_LONGEST = 65_536


def read_front_matter(text: str) -> dict[str, Any]:
    """Read front matter; dates stay texts.

    Raises:
        InvalidInput: It is no mapping, not YAML, too long, or uses aliases, which can grow without end.
    """
    try:
        import yaml
    except ImportError:
        raise InvalidInput(f"reading its front matter takes PyYAML: {install_command('importers')}") from None

    class Plain(yaml.SafeLoader):  # type: ignore[misc]
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise InvalidInput("its front matter uses aliases")
            return super().compose_node(parent, index)

    Plain.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    if len(text) > _LONGEST:
        raise InvalidInput(f"its front matter has more than {_LONGEST} characters")
    try:
        read = yaml.load(text, Plain)  # noqa: S506 - a safe loader
        # Keys of JSON are texts; what JSON cannot say is refused.
        record = json.loads(json.dumps({} if read is None else read))
    except InvalidInput:
        raise
    except Exception:  # noqa: BLE001 - its constructors raise whatever Python does
        raise InvalidInput("its front matter is not YAML that fits JSON") from None
    if not isinstance(record, dict):
        raise InvalidInput("its front matter is not a mapping")
    return record
