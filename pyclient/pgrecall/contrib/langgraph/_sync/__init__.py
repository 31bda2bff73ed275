"""The synchronous items, generated from `pgrecall.contrib.langgraph._async`."""
