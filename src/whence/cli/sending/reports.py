"""Results of `ingest` and `doctor`, as text or JSON."""

from dataclasses import asdict

from rich.text import Text

from whence.cli.administration.status import standing_lines
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.sending.doctor import Diagnosis
from whence.cli.sending.ingest import Ingested

SHOWN = 20
"""The most failures to list."""


def show_ingested(done: Ingested, output: Output) -> Exit:
    """Print the number of accepted events, and the reasons of the others."""
    if output is Output.JSON:
        print_document({**asdict(done), "accepted": done.accepted})
    else:
        failures = [Text.assemble((safe(one.place), "bold"), ": ", safe(one.reason)) for one in done.failures[:SHOWN]]
        more = [Text(f"… and {len(done.failures) - SHOWN:,} more")] if len(done.failures) > SHOWN else []
        print_lines([*failures, *more, Text(str(done)), *restricted_lines(done)])
    return Exit.MISTAKE if done.failures else Exit.OK


def restricted_lines(done: Ingested) -> list[Text]:
    """The number of events of which a part is withheld, and the first such part."""
    if not done.restricted:
        return []
    notice = f"{done.restricted:,} of them assert what their sender may not (whence access grant); the first: "
    return [Text(f"{notice}{safe(done.withheld)}", "yellow")]


def show_diagnosis(diagnosis: Diagnosis, output: Output) -> Exit:
    """Print each station of the probe: its result, duration and detail."""
    if output is Output.JSON:
        print_document({**asdict(diagnosis), "ok": diagnosis.ok})
    else:
        print_lines(
            Text.assemble(
                ("ok     " if one.ok else "failed ", "green" if one.ok else "bold red"),
                (f"{one.name:10}", "bold"),
                f"{one.seconds * 1_000:8.0f} ms  {safe(one.detail)}",
            )
            for one in diagnosis.stations
        )
        print_lines(standing_lines(diagnosis.status))
    return Exit.OK if diagnosis.ok else Exit.OUT_OF_SERVICE
