"""Import of JSON Lines."""
