"""`whence ledger`: the outcomes of received records."""

from dataclasses import asdict

from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import ReceiptNotFoundError
from whence.govern.lost_records import find_lost
from whence.log import Position
from whence.log.address import open_log
from whence.store.snapshots.graph import open_graph
from whence.store.status.ledger import Ledger, Receipt, find_receipts, list_quarantined, read_ledger

SHOWN = 20
"""The number of quarantined records that are listed with the counts."""

_STYLES = {"applied": "green", "duplicate": "yellow", "quarantined": "bold red"}


def show_ledger(store_url: str, sought: str | None, output: Output) -> Exit:
    """Print all receipts of a key or position, or the counts and the latest quarantined records. Raises StoreError."""
    with open_graph(store_url) as graph:
        engine = graph.connection.engine
        counts = read_ledger(engine)
        found = find_receipts(engine, _as_integer(sought)) if sought else list_quarantined(engine, SHOWN)
    if sought and not found:
        raise ReceiptNotFoundError(sought)
    if output is Output.JSON:
        print_document({"ledger": asdict(counts), "receipts": [_document(one) for one in found]})
    else:
        print_lines([*([] if sought else [_totals(counts)]), *map(_line, found)])
    return Exit.OK


def show_lost(store_url: str, log_url: str, output: Output) -> Exit:
    """Print the records of the log that the store has passed without an outcome. Raises LogError, StoreError."""
    log = open_log(log_url)
    found: list[Position] = []
    looked, since = 0, None
    with open_graph(store_url) as graph:
        while True:
            some = find_lost(log, graph.connection, since)
            found, looked, since = [*found, *some.positions], looked + some.looked, some.until
            if since is None:
                break
    if output is Output.JSON:
        print_document({"lost": [str(one) for one in found], "looked": looked})
    else:
        print_lines([_looked(looked, len(found)), *(Text(str(one)) for one in found)])
    return Exit.MISTAKE if found else Exit.OK


def _looked(looked: int, lost: int) -> Text:
    if not lost:
        return Text(f"{looked:,} records looked at, each has an outcome", "bold")
    return Text(f"{lost:,} of {looked:,} records have no outcome; `whence rebuild` derives them again", "bold red")


def _as_integer(sought: str) -> str:
    try:
        return str(Position.parse(sought).as_int)
    except ValueError:
        return sought  # a key


def _totals(counts: Ledger) -> Text:
    parts = (f"{counts.applied:,} applied", f"{counts.duplicate:,} duplicate", f"{counts.quarantined:,} quarantined")
    return Text(f"{counts.received:,} received: {', '.join(parts)}", "bold")


def _line(one: Receipt) -> Text:
    outcome = (f"{one.outcome:12}", _STYLES[one.outcome])
    return Text.assemble(f"{Position.from_int(one.position)!s:14} ", outcome, f"{one.key}  ", safe(one.reason))


def _document(one: Receipt) -> dict[str, str]:
    place = str(Position.from_int(one.position))
    return {"position": place, "key": one.key, "outcome": one.outcome, "reason": one.reason}
