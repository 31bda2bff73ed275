"""The synchronous client, generated from `pgrecall._async` by tools/async_to_sync.py."""
