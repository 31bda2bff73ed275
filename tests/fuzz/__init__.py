"""Hostile calls of everything that a role may execute, by the catalog: `python -m fuzz`, or `make fuzz`."""
