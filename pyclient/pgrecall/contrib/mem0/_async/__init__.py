"""The asynchronous Memory; `pgrecall.contrib.mem0._sync` is generated from it."""
