"""`whence ledger`: what became of what was received."""

from dataclasses import asdict

from rich.text import Text

from whence.cli.output import Exit, Output, print_document, print_lines, safe
from whence.errors import ReceiptNotFoundError
from whence.log import Position
from whence.store.graph import open_graph
from whence.store.ledger import Ledger, Receipt, quarantined, read_ledger, receipts

SHOWN = 20
"""Quarantined records listed with the counts."""

_STYLES = {"applied": "green", "duplicate": "yellow", "quarantined": "bold red"}


def show_ledger(store_url: str, sought: str | None, output: Output) -> Exit:
    """All receipts of a key or a position; else the counts, and the latest that were quarantined. Raises StoreError."""
    with open_graph(store_url) as graph:
        engine = graph.connection.engine
        counts = read_ledger(engine)
        found = receipts(engine, _as_integer(sought)) if sought else quarantined(engine, SHOWN)
    if sought and not found:
        raise ReceiptNotFoundError(sought)
    if output is Output.JSON:
        print_document({"ledger": asdict(counts), "receipts": [_document(one) for one in found]})
    else:
        print_lines([*([] if sought else [_totals(counts)]), *map(_line, found)])
    return Exit.OK


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
