"""The Marquez-compatible API under `/api/v1` (docs/reference/marquez.md)."""

from whence.api.marquez import lineage, reads, run_writes, writes
from whence.api.marquez import search as finding

READS = (reads.routes, lineage.routes, finding.routes, finding.beta)
WRITES = (writes.routes, run_writes.routes)
