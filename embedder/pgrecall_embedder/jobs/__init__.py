"""What the worker loop runs: one package per kind of job."""
