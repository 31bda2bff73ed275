"""The option that says where a memory comes from."""

from enum import StrEnum
from typing import Annotated

import typer


class OriginOption(StrEnum):
    """Where a memory comes from, from the least to the most trusted."""

    web = "web"
    tool = "tool"
    import_ = "import"
    agent = "agent"
    user = "user"


Origin = Annotated[
    OriginOption | None,
    typer.Option(help="Where it comes from, which says how far it is trusted.", show_default=False),
]
