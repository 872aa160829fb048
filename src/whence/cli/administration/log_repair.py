"""`whence log repair`: its work and output."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines
from whence.derive.archive.source import records_between
from whence.derive.archive.table import Archive, find_archive
from whence.errors import LogError
from whence.log import Position, Seal
from whence.log.address import open_log
from whence.log.segments.log import LANE, SegmentLog
from whence.log.segments.repair import accept_loss, restore_range
from whence.store.snapshots.graph import open_graph
from whence.store.status.ledger import accounted_positions

_NEXT = {
    "sealed": "not in the archive; restore the segment, or accept the loss with --accept-loss",
    "restored": "is whole again",
    "lost": "is lost; whence ledger --lost names its records",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairing:
    """The addresses of log, archive and store, and whether unrecoverable records are accounted as lost."""

    log: str
    archive: str
    store: str
    accept_loss: bool


def show_repaired(what: Repairing, output: Output) -> Exit:
    """Seal and repair all damage, and list it. Raises LogError, TableError; StoreError if a loss is to be accepted."""
    log = open_log(what.log)
    if not isinstance(log, SegmentLog):
        raise LogError("`whence log repair` cannot repair a Kafka topic: its brokers repair it from their replicas")
    log.seal_damage({})
    archive = find_archive(what.archive)
    try:
        for seal in [one for one in log.list_seals() if one.state == "sealed"]:
            left = _restore(log.directory, seal, archive)
            if what.accept_loss and left:
                accept_loss(log.directory, left, _derived(what.store, left))
    except OSError as error:
        raise LogError(f"the event log cannot be repaired: {error}") from error
    return _show(log.list_seals(), output)


def _restore(directory: Path, seal: Seal, archive: Archive | None) -> Seal | None:
    """Restore a range from the archive. Returns the part that is still sealed."""
    reach = archive.reach(LANE) if archive else None
    if archive is None or reach is None:
        return seal
    records = records_between(archive, seal.begin, Position(seal.segment + 1, 0))
    within = (one for one in records if seal.start == seal.stop or one.position < seal.end)
    after = restore_range(directory, seal, within, Position.from_int(reach.until))
    return next((one for one in after if one.state == "sealed"), None)


def _derived(store_url: str, seal: Seal) -> int:
    """The number of records of a range that the store has."""
    with open_graph(store_url) as graph:
        last = max(seal.end.as_int - 1, seal.begin.as_int)
        return len(accounted_positions(graph.connection, seal.begin.as_int, last))


def _show(seals: Sequence[Seal], output: Output) -> Exit:
    if output is Output.JSON:
        print_document({"damaged": [_document(one) for one in seals]})
    else:
        print_lines([_line(one) for one in seals] or [Text("no record of the log is damaged", "bold")])
    return Exit.MISTAKE if any(one.state == "sealed" for one in seals) else Exit.OK


def _line(seal: Seal) -> Text:
    style = {"sealed": "bold red", "lost": "yellow"}.get(seal.state, "green")
    about = f"{seal.begin} to {seal.end}, at least {seal.count:,} records: {_NEXT[seal.state]}"
    return Text.assemble((f"{seal.state:10}", style), about)


def _document(seal: Seal) -> dict[str, object]:
    named = [{"position": str(Position(seal.segment, at)), "key": key} for at, key in seal.records]
    counts = {"records": seal.count, "lost": seal.lost}
    return {"from": str(seal.begin), "to": str(seal.end), "state": seal.state, **counts, "known": named}
