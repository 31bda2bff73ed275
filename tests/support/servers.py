"""Settings of the servers that tests start."""

from __future__ import annotations

# The tests crash servers by kill -9 only, never the machine, so nothing waits for a disk. Making and
# dropping a database walks the shared buffers, and thousands are made: few buffers do.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_compression": "off",
    "shared_buffers": "128MB",
    "max_connections": "200",
}
