"""Where an installation has what packs are made of: its store, its log, its keys, and its signed heads."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import Engine

from whence.errors import EvidenceError
from whence.govern.evidence.content.raw_events import EventReader
from whence.govern.evidence.content.sources import ReadAudit, Sources, read_changes
from whence.govern.evidence.heads import Head, read_heads
from whence.govern.evidence.pack import Signer
from whence.govern.evidence.signing.key_files import current_key, list_keys
from whence.govern.run_events.run_commits import read_run_commits
from whence.log import Log
from whence.store.security.database import read_security
from whence.store.security.policy import read_policy
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

HEADS = "signed-heads.jsonl"
"""The file of signed heads in a data directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The places. `security`: the security database, None if it runs open."""

    store: Engine
    log: Log
    security: Engine | None
    keys: Path
    heads: Path

    @property
    def signer(self) -> Signer:
        """What signs packs. Raises EvidenceError."""
        return Signer(key=current_key(self.keys), published=list_keys(self.keys))

    @contextmanager
    def open_sources(self) -> Iterator[Sources]:
        """Open everything, for who may see all of it. Raises StoreError, EvidenceError."""
        with snapshot(self.store) as connection, _open_security(self.security) as (secret, read_audit):
            graph, catalog = StoreGraph(connection), StoreCatalog(connection)
            yield Sources(
                graph=graph,
                catalog=catalog,
                whole=catalog,
                whole_graph=graph,
                events=EventReader(read_records=self.log.read_records, visible_ids=None, secret=secret),
                read_commits=partial(read_run_commits, connection, self.log),
                read_audit=read_audit,
                heads=heads_of(self.heads),
            )


def heads_of(file: Path) -> tuple[Head, ...]:
    """The signed heads of an installation, the oldest first; none if nothing was signed. Raises EvidenceError."""
    try:
        return read_heads(file.read_bytes())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise EvidenceError(str(file), f"it cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise EvidenceError(str(file), str(error)) from None


@contextmanager
def _open_security(engine: Engine | None) -> Iterator[tuple[bytes, ReadAudit | None]]:
    """The secret of the installation, and its audit log. Neither, if it runs open."""
    if engine is None:
        yield b"", None
        return
    with read_security(engine) as connection:
        yield read_policy(connection).secret, partial(read_changes, connection)
