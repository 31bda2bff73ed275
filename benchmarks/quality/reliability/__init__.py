"""Is the confidence of recall a probability: in small and large namespaces, by data set and encoder."""

from benchmarks.quality.reliability.command import add_to

__all__ = ["add_to"]
