"""Embeds memories, one pipeline per generation."""
