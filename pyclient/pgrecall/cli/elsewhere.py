"""Where the memories are if the default namespace has none."""

from typing import TYPE_CHECKING

from pgrecall.formatting import sanitize_line

from .common import note

if TYPE_CHECKING:
    from pgrecall import Client

_LOOKED_AT, _NAMED = 50, 5


def note_elsewhere(client: "Client", named: object) -> None:
    """Say which namespaces have memories if none was named and the default one is empty.

    Args:
        client: The client.
        named: The namespace or namespaces that the command was given.
    """
    from pgrecall.errors import PgrecallError

    if named or client.open().namespace is not None:
        return
    try:
        if client.list(k=1):
            return
        names = (one.name for one in client.admin.namespaces()[:_LOOKED_AT])
        filled = [name for name in names if client.list(k=1, namespace=name)][:_NAMED]
    except PgrecallError:  # a router has no list
        return
    if filled:
        shown = ", ".join(map(sanitize_line, filled))
        note(
            f"the default namespace has no memories, but these have: {shown}. Choose one by -n, "
            "PGRECALL_NAMESPACE or `pgrecall config set namespace`."
        )
