"""Settings: environment, settings file, connection strings."""
