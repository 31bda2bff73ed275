"""What the embedder costs and how soon it answers: `python -m benchmarks daemon --help`."""

from benchmarks.operations.daemon.command import add_to

__all__ = ["add_to"]
