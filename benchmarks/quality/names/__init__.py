"""Which names are merged into one concept, against hand-made labels."""

from .command import add_to

__all__ = ["add_to"]
