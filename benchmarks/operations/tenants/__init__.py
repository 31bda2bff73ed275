"""What row-level security costs recall: the same questions by the owner and by tenants with many grants.

`python -m benchmarks tenants --help`.
"""

from benchmarks.operations.tenants.command import add_to

__all__ = ["add_to"]
