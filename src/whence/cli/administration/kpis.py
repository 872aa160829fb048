"""Results of `whence publish`, and the KPIs, as text or JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.derive.kpis.measure import measure
from whence.derive.kpis.series import Kpi, Measured, kpis, read_series
from whence.derive.lineage_tables.job import publish
from whence.derive.spark.session import open_session
from whence.store.connection.engine import open_store
from whence.store.snapshots.graph import open_graph

_UNITS = ((86_400.0, "days"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    """The source (a store's URL, the archive's path or URL), and the target (a path or URL)."""

    store: str
    archive: str
    tables: str


def show_published(what: Publishing, at: datetime, days: float, output: Output) -> Exit:
    """Publish, measure as of `at`, and print both. Raises StoreError, TableError."""
    with open_graph(what.store):
        pass  # there is a store
    session = open_session()
    rows = publish(session, open_store(what.store), what.tables)
    measured = measure(session, what.tables, what.archive, at, days)
    if output is Output.JSON:
        print_document({"tables": what.tables, "rows": rows, "kpis": [_document(one, None) for one in measured]})
    else:
        counts = ", ".join(f"{count:,} {name}" for name, count in rows.items())
        print_lines([Text.assemble(("published ", "bold"), f"{safe(what.tables)}: {counts}"), *_lines(measured, {})])
    return Exit.OK


def show_kpis(tables: str, explain: bool, output: Output) -> Exit:
    """Print the latest measurement of each KPI, and the one before."""
    series = read_series(tables)
    if not series and output is Output.TEXT:
        print_lines([Text("No KPI was measured yet; `whence publish` measures them.", "yellow")])
        return Exit.OK
    latest = tuple(some[-1] for some in series.values())
    before = {name: some[-2] for name, some in series.items() if len(some) > 1}
    known = {one.name: one for one in kpis()}
    if output is Output.JSON:
        print_document({"kpis": [_document(one, before.get(one.name), known.get(one.name)) for one in latest]})
    else:
        at = max(one.measured_at for one in latest)
        print_lines([Text(f"measured {at:%Y-%m-%d %H:%M} UTC", "dim"), *_lines(latest, before)])
        if explain:
            print_lines(Text.assemble((one.name, "bold"), f": {one.definition}") for one in known.values())
    return Exit.OK


def _lines(measured: Sequence[Measured], before: dict[str, Measured]) -> list[Text]:
    return [_line(one, before.get(one.name)) for one in measured]


def _line(one: Measured, before: Measured | None) -> Text:
    change = ""
    if before and _shown(before) != _shown(one):
        change = f"  was {_shown(before)}"
    made_of = f"  {one.numerator:,.0f} of {one.denominator:,.0f}" if one.unit == "ratio" and one.denominator else ""
    return Text.assemble((f"{safe(one.name):28}", "bold"), f"{_shown(one):>12}", (made_of + change, "dim"))


def _shown(one: Measured) -> str:
    match one.unit, one.value:
        case _, None:
            return "–"
        case "ratio", value:
            return f"{value:.1%}"
        case "seconds", value:
            size, unit = next((size, unit) for size, unit in _UNITS if abs(value) >= size or size == 1)
            return f"{value / size:,.1f} {unit}"
        case _, value:
            return f"{value:,.2f}".removesuffix(".00")


def _document(one: Measured, before: Measured | None, kpi: Kpi | None = None) -> dict[str, object]:
    document: dict[str, object] = {
        "name": one.name,
        "value": one.value,
        "unit": one.unit,
        "numerator": one.numerator,
        "denominator": one.denominator,
        "measured_at": one.measured_at.isoformat(),
    }
    if kpi:
        document |= {"before": before and before.value, "definition": kpi.definition}
    return document
