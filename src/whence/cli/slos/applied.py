"""`whence slo apply`: the events that declare the objectives of a file, and end those that it no longer has."""

import getpass
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.text import Text

from whence.cli.declarations import send_declarations
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.slos.files import load_slos
from whence.client.questions import Client, connect
from whence.errors import RulesFileError
from whence.govern.slos.objectives import Objective
from whence.govern.slos.records import HeldSlo, declaration_event, find_changes
from whence.govern.slos.slo_file import SloFile
from whence.model.names import DatasetName, parse_node
from whence.model.slo_records import DeclarationRecord
from whence.model.traits import RUNBOOK
from whence.openlineage.authority.restrictions import person_uri

Change = tuple[DeclarationRecord, str]
"""A declaration, and the namespace of its dataset."""


def show_applied(file: Path, url: str, output: Output, *, prune: bool, dry_run: bool) -> Exit:
    """Declare the objectives of a file, and print what changed. Raises RulesFileError, ArtifactError, ApiError."""
    wanted = load_slos(file)
    with connect(url) as questions:
        _require_runbooks(wanted.objectives, questions)
        sender = questions.whoami()
        held = list(_held(questions))
    changes = list(find_changes(wanted.objectives, held, prune=prune))
    if not dry_run:
        _send(changes, url, person_uri(sender.name if sender else getpass.getuser()))
    _print(wanted, changes, held, output, dry_run=dry_run)
    return Exit.OK


def _require_runbooks(wanted: Sequence[Objective], questions: Client) -> None:
    """Nobody is woken without being told what to do. Raises RulesFileError for the first objective that pages and has
    no runbook, nor has its dataset.
    """
    lacking = [one for one in wanted if one.pages and not one.runbook]
    facts = questions.facts(sorted({str(one.dataset) for one in lacking})) if lacking else ()
    known = {one.node for one in facts if any(tag.key == RUNBOOK and not tag.field for tag in one.tags)}
    for one in lacking:
        if str(one.dataset) not in known:
            ways = f"write `runbook: https://…`, or `whence tags add DATASET {RUNBOOK}=https://…`"
            raise RulesFileError(one.place, f"an alert of {one.name!r} pages, so it needs a runbook: {ways}")


def _held(questions: Client) -> Iterator[HeldSlo]:
    for one in questions.slos().slos:
        dataset = parse_node(one.dataset)
        if isinstance(dataset, DatasetName):
            yield HeldSlo(service=one.service, name=one.name, dataset=dataset, version=one.version)


def _send(changes: Sequence[Change], url: str, producer: str) -> None:
    """Send an event for each change. Raises ApiError. `producer`: who the key belongs to."""
    at = time.time_ns() // 1_000
    send_declarations(
        url, ((record.name, declaration_event(record, namespace, at, producer)) for record, namespace in changes)
    )


def _print(
    wanted: SloFile, changes: Sequence[Change], held: Sequence[HeldSlo], output: Output, *, dry_run: bool
) -> None:
    rows = [(_change(record, namespace, held), record) for record, namespace in changes]
    changed = {(record.name, record.dataset) for record, _ in changes}
    unchanged = [one for one in wanted.objectives if (one.name, str(one.dataset)) not in changed]
    if output is Output.JSON:
        slos = [{"change": change, "name": one.name, "dataset": one.dataset} for change, one in rows]
        slos += [{"change": "unchanged", "name": one.name, "dataset": str(one.dataset)} for one in unchanged]
        print_document({"service": wanted.service, "applied": not dry_run, "slos": slos})
        return
    lines = [f"{change}: {safe(one.name)}  {safe(one.dataset)}" for change, one in rows]
    lines += [f"unchanged: {safe(one.name)}  {safe(str(one.dataset))}" for one in unchanged]
    print_lines(map(Text, [*lines, *(["nothing was sent"] if dry_run else [])]))


def _change(record: DeclarationRecord, namespace: str, held: Sequence[HeldSlo]) -> str:
    if record.ended:
        return "ended"
    is_known = any(one.key == (namespace, record.service, record.name) for one in held)
    return "changed" if is_known else "declared"
