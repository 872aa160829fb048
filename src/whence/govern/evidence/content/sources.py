"""Where the content of a pack comes from: the answers of the query engine and the log, for one viewer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from whence.govern.access_document import AuditEntry, entry_document
from whence.govern.evidence.content.raw_events import EventReader
from whence.govern.evidence.heads import Head
from whence.query.history.changes.code import ReadCommits
from whence.query.ports.catalog import Catalog
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.security.audit import AuditFilter, read_audit

ReadAudit = Callable[[Sequence[str], int], Sequence[AuditEntry]]
"""Reads the changes of some nodes in the audit log, until a time (µs)."""

CHANGES = ("write", "steward", "admin")
"""The actions of the audit log that change something. Who only read would be different after each pack."""
MOST_ENTRIES = 1_000
"""The most entries of the audit log of one node: the latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """One snapshot, as far as the viewer may see it. `read_audit` is None if they may not read the audit log.

    `whole` and `whole_graph` are not restricted: what decides the state of an objective or a policy; nothing else of
    them may be in a pack. `heads`: the signed heads of both logs, the oldest first. `read_commits`: the commits that
    runs reported.
    """

    graph: QuestionGraph
    catalog: Catalog
    whole: Catalog
    whole_graph: QuestionGraph
    events: EventReader
    read_commits: ReadCommits
    read_audit: ReadAudit | None = None
    heads: Sequence[Head] = ()

    @property
    def is_whole(self) -> bool:
        """Whether nothing is hidden from the viewer."""
        return self.events.visible_ids is None


def read_changes(connection: Connection, nodes: Sequence[str], until: int) -> list[AuditEntry]:
    """The changes of some nodes in the audit log until a time (µs), the oldest first."""
    wanted = AuditFilter(before=until + 1, limit=MOST_ENTRIES)
    several = [replace(wanted, node=node, action=action) for node in nodes for action in CHANGES]
    found = {number: entry for one in several for number, entry in read_audit(connection, one)}
    return [entry_document(number, found[number]) for number in sorted(found)]
