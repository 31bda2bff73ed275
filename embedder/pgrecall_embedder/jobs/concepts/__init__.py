"""Embeds names of concepts and resolves duplicates."""
