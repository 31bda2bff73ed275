"""The console of tables and progress bars. Whatever is printed there is visible text."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from pgrecall.formatting import printable


class CleanConsole(Console):
    """A console that leaves out control and invisible characters, except its own."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Render as text whose control characters are rich's own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
