"""The synchronous documents, generated from `pgrecall.contrib.langchain._async`."""
