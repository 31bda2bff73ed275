"""The asynchronous items; `pgrecall.contrib.langgraph._sync` is generated from it."""
