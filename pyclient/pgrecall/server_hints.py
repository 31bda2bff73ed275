"""Hints of the server in the terms of the client: SQL names its own functions and arguments."""

import re

__all__ = ["client_hint"]

_FUNCTIONS = (
    ("SELECT name FROM pgrecall.list_namespaces() lists", "client.admin.namespaces() lists"),
    ("SELECT name, effect FROM pgrecall.settings_reference lists", "client.admin.settings_in_force() lists"),
    ("SELECT * FROM pgrecall.generation_progress() lists", "`pgrecall reembed --status` lists"),
    ("Use SET, RESET or pgrecall.set_setting().", "Use client.admin.set_setting()."),
    ("query_vec => ", "vector="),
    ("namespaces => ARRAY['me', 'team'], namespace_weights => '{\"team\": 0.5}'",
     "namespaces=['me', 'team'], namespace_weights={'team': 0.5}"),
    ("pgrecall.drop_page()", "client.pages.drop()"),
    ("pgrecall.merge_concepts(", "`pgrecall graph merge` ("),
    ("pgrecall.set_setting() with NULL", "client.admin.set_setting() with None"),
    ("pgrecall.create_namespace()", "client.admin.create_namespace()"),
    ("pgrecall.curation_log()", "client.curation.log()"),
    ("pgrecall.find_concept()", "`pgrecall graph show`"),
    ("pgrecall.split_concept()", "`pgrecall graph split`"),
    ("recall_status()", "client.admin.status()"),
    ("update_memory()", "client.update()"),
    ("list_memories()", "client.list()"),
)  # fmt: skip
_VALUES = {"true": "True", "false": "False", "NULL": "None"}
_ARGUMENT = re.compile(r"\b(\w+) => (true\b|false\b|NULL\b)?")


def client_hint(hint: str | None) -> str | None:
    """Return a hint of the server with the client's methods and arguments in place of SQL's.

    Args:
        hint: The hint; None stays None.
    """
    if hint is None:
        return None
    for function, method in _FUNCTIONS:
        hint = hint.replace(function, method)
    return _ARGUMENT.sub(lambda found: f"{found[1]}={_VALUES.get(found[2] or '', '')}", hint)
