"""What `ingest` and `doctor` found, as text or JSON."""

from dataclasses import asdict

from rich.text import Text

from whence.cli.doctor import Diagnosis
from whence.cli.ingest import Ingested
from whence.cli.output import Exit, Output, print_document, print_lines, safe
from whence.cli.standing import standing_lines

SHOWN = 20
"""Failures written out."""


def show_ingested(done: Ingested, output: Output) -> Exit:
    """How many events were taken, and why the others were not."""
    if output is Output.JSON:
        print_document({**asdict(done), "accepted": done.accepted})
    else:
        failures = [Text.assemble((safe(one.place), "bold"), ": ", safe(one.reason)) for one in done.failures[:SHOWN]]
        more = [Text(f"… and {len(done.failures) - SHOWN:,} more")] if len(done.failures) > SHOWN else []
        print_lines([*failures, *more, Text(str(done))])
    return Exit.MISTAKE if done.failures else Exit.OK


def show_diagnosis(diagnosis: Diagnosis, output: Output) -> Exit:
    """Each station of the probe: whether it went well, how long it took, what is to say."""
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
