"""`whence certification apply`: the events that declare the rules of a file, and end those that it no longer has."""

import getpass
import time
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from whence.cli.certification.files import load_rules
from whence.cli.declarations import send_declarations
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.questions import connect
from whence.govern.certification.records import HeldRule, find_rule_changes, rule_event
from whence.model.records.certification import RuleRecord
from whence.openlineage.authority.restrictions import person_uri

Change = tuple[RuleRecord, str]
"""A declaration, and its namespace."""


def show_applied(file: Path, url: str, output: Output, *, prune: bool, dry_run: bool) -> Exit:
    """Declare the rules of a file, and print what changed. Raises RulesFileError, ArtifactError, ApiError."""
    wanted = load_rules(file)
    with connect(url) as questions:
        sender = questions.whoami()
        stated = questions.certification_rules()
    held = [HeldRule(namespace=one.namespace, name=one.name, version=one.version) for one in stated]
    changes = list(find_rule_changes(wanted, held, prune=prune))
    if not dry_run:
        _send(changes, url, person_uri(sender.name if sender else getpass.getuser()))
    changed = {(record.name, namespace) for record, namespace in changes}
    rows = [(_change(record, namespace, held), record.name, namespace) for record, namespace in changes]
    every = ((rule.name, namespace) for rule in wanted for namespace, _ in rule.texts)
    rows += [("unchanged", *one) for one in every if one not in changed]
    _print(rows, output, dry_run=dry_run)
    return Exit.OK


def _send(changes: Sequence[Change], url: str, producer: str) -> None:
    """Send an event for each change. Raises ApiError. `producer`: who the key belongs to."""
    at = time.time_ns() // 1_000
    send_declarations(
        url, ((record.name, rule_event(record, namespace, at, producer)) for record, namespace in changes)
    )


def _print(rows: Sequence[tuple[str, str, str]], output: Output, *, dry_run: bool) -> None:
    if output is Output.JSON:
        rules = [{"change": change, "name": name, "namespace": namespace} for change, name, namespace in rows]
        print_document({"applied": not dry_run, "rules": rules})
        return
    lines = [f"{change}: {safe(name)}  {safe(namespace)}" for change, name, namespace in rows]
    print_lines(map(Text, [*lines, *(["nothing was sent"] if dry_run else [])]))


def _change(record: RuleRecord, namespace: str, held: Sequence[HeldRule]) -> str:
    if record.ended:
        return "ended"
    is_known = any((one.namespace, one.name) == (namespace, record.name) for one in held)
    return "changed" if is_known else "declared"
