"""The synchronous Memory, generated from `pgrecall.contrib.mem0._async`."""
