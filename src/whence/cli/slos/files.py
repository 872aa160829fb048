"""Files of objectives, and the report of `whence slo check`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.gate.contracts.files import read_text
from whence.cli.output.mistakes import print_mistakes
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import RulesFileError
from whence.govern.slos.burn_rates import factor_of, length_text, open_time_of
from whence.govern.slos.objectives import DAY, BurnRate, Misses, Objective, kind_of_indicator
from whence.govern.slos.received_times import ReceivedTimes
from whence.govern.slos.slo_file import SloFile, read_slos
from whence.log.address import open_log
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

_NO_RUNBOOK = "no runbook: to apply it, write `runbook: https://…`, or tag the dataset with one"


def load_slos(file: Path) -> SloFile:
    """Read a file of objectives. Raises RulesFileError with file and line, ArtifactError."""
    return read_slos(read_text(file), file.as_posix())


def open_catalog(graph: StoreGraph, log: str) -> StoreCatalog:
    """The catalog in a snapshot of the store, with the log at an address. Raises LogError."""
    return StoreCatalog(graph.connection, read_received=ReceivedTimes(open_log(log)))


def show_checked(file: Path, output: Output) -> Exit:
    """Check a file, and print its objectives, or its mistakes. Raises ArtifactError."""
    text = read_text(file)
    try:
        found = read_slos(text, file.as_posix())
    except RulesFileError as error:
        return print_mistakes(error, output, {"slos": []})
    if output is Output.JSON:
        print_document({"valid": True, "mistakes": [], "slos": [_document(one) for one in found.objectives]})
    else:
        print_lines(Text(line) for line in _lines(found))
    return Exit.OK


def _lines(found: SloFile) -> Iterator[str]:
    for one in found.objectives:
        yield f"{safe(one.name)}  {safe(str(one.dataset))}"
        yield f"  {kind_of_indicator(one.indicator)}, target {100 * float(one.target):g} % of {one.window // DAY} d"
        yield from (f"  {alert_text(one, alert)}" for alert in one.alerting)
        if one.pages:
            yield f"  runbook: {safe(one.runbook)}" if one.runbook else f"  {_NO_RUNBOOK}"
    count = len(found.objectives)
    yield f"{count} objective{'s' * (count != 1)} of {safe(found.service)}, valid"


def alert_text(one: Objective, alert: BurnRate | Misses) -> str:
    """When an alert of an objective opens, as people read it."""
    if isinstance(alert, Misses):
        return f"{alert.notify}: {alert.bad} of the last {alert.of} bad"
    factor = float(factor_of(alert, open_time_of(one.calendar, one.window)))
    windows = f"{length_text(alert.long)} and {length_text(alert.short)} of open time"
    return f"{alert.notify}: the budget burns {factor:.4g} times too fast for {windows}"


def _document(one: Objective) -> dict[str, Any]:
    return {
        "name": one.name,
        "dataset": str(one.dataset),
        "indicator": kind_of_indicator(one.indicator),
        "target": float(one.target),
        "budgeting_method": one.budgeting.value,
        "alerts": [alert_text(one, alert) for alert in one.alerting],
        "runbook": one.runbook or None,
        "place": one.place,
    }
