"""JSON Lines into memories."""
