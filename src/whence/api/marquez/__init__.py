"""The API that clients of Marquez speak, under `/api/v1` (docs/marquez.md)."""

from whence.api.marquez import finding, lineage, reads, writes

READS = (reads.routes, lineage.routes, finding.routes, finding.beta)
WRITES = writes.routes
