"""The asynchronous documents; `pgrecall.contrib.langchain._sync` is generated from it."""
