"""The synchronous offline client, generated from its asynchronous twin by tools/async_to_sync.py."""
