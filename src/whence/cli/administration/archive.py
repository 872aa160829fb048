"""`whence archive` and `whence rebuild`: records from the log into the archive, and from both into a store."""

from dataclasses import dataclass

from rich.filesize import decimal
from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.settings import target_url
from whence.derive.archive.compaction import compact_archive
from whence.derive.archive.copy import Copied, archive_log, drop_archived
from whence.derive.rebuild import check_is_new, rebuild, rebuild_as_of
from whence.derive.spark.jars import jars_for
from whence.derive.spark.session import open_session
from whence.errors import LogError
from whence.log import Log
from whence.log.address import open_log
from whence.log.segments.log import SegmentLog
from whence.store.connection.engine import open_store, read_progress
from whence.store.security.signing import existing_signing_secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Archiving:
    """The addresses of the event log, the archive and the security database."""

    log: str
    archive: str
    security: str

    def open_log(self) -> Log:
        """Open the log. Raises LogError, and StoreError if the log is a topic and its secret is not available."""
        return open_log(self.log, lambda: existing_signing_secret(self.security))


def rebuild_store(what: Archiving, live: str, into: str | None, as_of: int | None) -> None:
    """Derive archive and log into the store at `live` (a URL), or into a new one. Raises LogError, StoreError."""
    target = live if into is None else target_url(into)
    if into is not None:
        check_is_new(target)
    log = what.open_log()
    session = open_session(jars=jars_for(log))
    if as_of is None:
        rebuild(session, log, target, what.archive)
    else:
        rebuild_as_of(session, log, target, what.archive, as_of)


def show_archived(what: Archiving, drop_for: str | None, output: Output) -> Exit:
    """Archive, compact, and drop the segments that both the archive and the store `drop_for` (a URL) have.

    Raises LogError, TableError, StoreError.
    """
    if drop_for:
        _refuse_topic(what.log)
    log = what.open_log()
    applied = read_progress(open_store(drop_for)) if drop_for else None
    segments = log if applied is not None and isinstance(log, SegmentLog) else None
    session = open_session(jars=jars_for(log))
    copied = archive_log(session, log, what.archive)
    compact_archive(session, what.archive)
    dropped = drop_archived(segments, what.archive, applied or {}) if segments else ()
    if output is Output.JSON:
        print_document(_document(copied, what.archive, dropped))
    else:
        print_lines(_lines(copied, what.archive, dropped))
    return Exit.OK


def _refuse_topic(log: str) -> None:
    if log.startswith("kafka://"):
        raise LogError("a Kafka topic's own settings (retention.ms) decide what it keeps, not --drop-segments")


def _lines(copied: Copied, archive: str, dropped: tuple[int, ...]) -> list[Text]:
    done = (
        f"{copied.records:,} records, {decimal(copied.bytes)} in {copied.files} files"
        if copied.records
        else "nothing new"
    )
    spans = [Text(f"         {safe(lane.name)} from {lane.start} to {lane.end}") for lane in copied.lanes]
    lines = [Text.assemble(("archived ", "bold"), f"{done}, at {safe(archive)}"), *spans]
    if dropped:
        lines.append(Text.assemble(("dropped  ", "bold"), f"segments {dropped[0]} to {dropped[-1]}"))
    return lines


def _document(copied: Copied, archive: str, dropped: tuple[int, ...]) -> dict[str, object]:
    lanes = {lane.name: [str(lane.start), str(lane.end)] for lane in copied.lanes}
    counts = {"records": copied.records, "files": copied.files, "bytes": copied.bytes}
    return {"archive": archive, "lanes": lanes, **counts, "dropped_segments": list(dropped)}
