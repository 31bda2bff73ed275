"""Names of things: patterns, rules, spaCy."""
