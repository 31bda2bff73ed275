"""The asynchronous offline client; `pgrecall.contrib.offline._sync` is generated from it."""
