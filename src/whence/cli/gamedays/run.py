"""`whence gameday`: runs scenarios, each in a store of its own, and prints a report card."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.text import Text
from sqlalchemy import Engine

from whence.cli.gamedays.play import play
from whence.cli.gate.contracts.files import read_text
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import RulesFileError
from whence.govern.gamedays.scenario import Scenario
from whence.govern.gamedays.scenario_file import read_scenario
from whence.govern.gamedays.score import Report, score
from whence.openlineage.authority.restrictions import person_uri
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.lifecycle.copy import copy_out
from whence.store.migrations.migrate import migrate
from whence.store.snapshots.graph import existing_store

_SHIPPED = Path(__file__).parents[2] / "govern" / "gamedays" / "scenarios"
_PRODUCER = person_uri("gameday")


def list_shipped() -> Sequence[Scenario]:
    """The scenarios that come with Whence, by name."""
    return [read_scenario(file.read_text(encoding="utf-8"), file.name) for file in sorted(_SHIPPED.glob("*.yaml"))]


def show_scenarios(output: Output) -> Exit:
    """Print the scenarios that come with Whence."""
    found = list_shipped()
    if output is Output.JSON:
        members = ({"name": one.name, "title": one.title, "origin": one.origin} for one in found)
        print_document({"scenarios": list(members)})
    else:
        print_lines(Text.assemble((one.name, "bold"), f"  {one.title} ", (f"({one.origin})", "dim")) for one in found)
    return Exit.OK


def show_reports(wanted: Sequence[str], url: str | None, output: Output) -> Exit:
    """Run scenarios, by name or file, or all that come with Whence, and print what was found and what was not.

    `url`: of a store; each runs in a copy of it, beside its data. Raises RulesFileError, ArtifactError, StoreError.
    """
    reports = []
    now = time.time_ns() // 1_000
    for one in _choose(wanted):
        # The oldest data of a store may be deleted by its retention, so a copy gets the scenario as of lately.
        one = one if url is None else one.moved_to_end_before(now)
        with _scratch_store(url) as engine:
            report = score(one, play(one, engine, _PRODUCER))
        reports.append(report)
        if output is Output.TEXT:
            print_lines(_lines(report))
    passed = sum(one.passed for one in reports)
    if output is Output.JSON:
        print_document({"passed": passed, "total": len(reports), "scenarios": [_document(one) for one in reports]})
    elif len(reports) > 1:
        print_lines([Text(f"{passed} of {len(reports)} scenarios passed")])
    return Exit.OK if passed == len(reports) else Exit.BLOCKED


def _choose(wanted: Sequence[str]) -> Iterator[Scenario]:
    shipped = {one.name: one for one in list_shipped()}
    for text in wanted or shipped:
        if text in shipped:
            yield shipped[text]
        elif Path(text).suffix in (".yaml", ".yml"):
            yield read_scenario(read_text(Path(text)), text)
        else:
            known = ", ".join(shipped)
            raise RulesFileError(text, f"no scenario has this name: write a file, or one of {known}")


@contextmanager
def _scratch_store(url: str | None) -> Iterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="whence-gameday-") as directory:
        file = Path(directory) / "store.db"
        if url is not None:
            source = existing_store(url)
            try:
                copy_out(source, file)
            finally:
                source.dispose()
        engine = open_store(sqlite_url(file))
        try:
            migrate(engine)
            yield engine
        finally:
            engine.dispose()


def _lines(report: Report) -> Iterator[Text]:
    scenario = report.scenario
    head = ("passed", "green") if report.passed else ("failed", "red")
    yield Text.assemble((safe(scenario.name), "bold"), "  ", head, (f"  {safe(scenario.title)}", "dim"))
    for one in report.criteria:
        observed = safe(one.observed)
        if one.passed:
            yield Text(f"  {one.name}: {observed}")
        else:
            yield Text.assemble(f"  {one.name}: ", (observed, "red"), f"; expected {safe(one.expected)}")


def _document(report: Report) -> dict[str, Any]:
    return {
        "name": report.scenario.name,
        "title": report.scenario.title,
        "origin": report.scenario.origin,
        "passed": report.passed,
        "criteria": [
            {"name": one.name, "passed": one.passed, "expected": one.expected, "observed": one.observed}
            for one in report.criteria
        ],
    }
