"""Reads names, times and facts in memories, by rules and by a language model."""
