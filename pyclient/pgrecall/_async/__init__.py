"""The asynchronous client and its collaborators; `pgrecall._sync` is generated from it."""
