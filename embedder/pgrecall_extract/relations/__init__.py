"""Facts that a sentence states."""
