"""Embeds queries for clients without a model."""
