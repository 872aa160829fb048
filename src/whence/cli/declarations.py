"""What people declare (contracts, objectives, rules): sent to a server, as events in the name of a key."""

import getpass
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from whence.cli.client import Client
from whence.cli.output.streams import Output, print_document, print_lines, safe
from whence.client.questions import Client as Questions
from whence.client.questions import connect
from whence.errors import ApiError
from whence.govern.declared_rules import Declarable, HeldRule, RuleKind, find_rule_changes, rule_event
from whence.model.records.rules import RuleRecord
from whence.openlineage.authority.restrictions import person_uri

_WAIT_SECONDS = 5


def send_declarations(url: str, events: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Send events, each with the name of what it declares, and wait a little until the answers have them. Raises
    ApiError with that name, also if the key lacks the role.
    """
    position = ""
    collector = Client(url)
    try:
        for name, event in events:
            reply = collector.post("/api/v1/lineage", json.dumps(event).encode())
            if reply.status != 201:
                raise ApiError(url, f"{name}: {reply.json.get('reason') or reply.json.get('detail')}")
            if reply.json.get("restricted"):
                raise ApiError(url, f"{name}: {reply.json['warnings'][0]} (`whence access grant`)")
            position = str(reply.json.get("position") or position)
        if position:
            collector.get(f"/api/v2/progress?wait_for={position}&timeout={_WAIT_SECONDS}")
    finally:
        collector.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesFile:
    """The rules of a file, of one kind; `noun`: the member of the JSON answer."""

    kind: RuleKind[Any]
    rules: Sequence[Declarable]
    noun: str = "rules"


def apply_rules(
    file: RulesFile,
    url: str,
    read_held: Callable[[Questions], Iterable[HeldRule]],
    output: Output,
    *,
    prune: bool,
    dry_run: bool,
) -> None:
    """Declare the rules of a file, end those that left it, and print what changed. Raises ApiError.

    `read_held`: the rules that hold.
    """
    with connect(url) as questions:
        sender = questions.whoami()
        held = list(read_held(questions))
    changes = list(find_rule_changes(file.rules, held, prune=prune))
    if not dry_run:
        at, producer = time.time_ns() // 1_000, person_uri(sender.name if sender else getpass.getuser())
        events = ((one.name, rule_event(file.kind, one, namespace, at, producer)) for one, namespace in changes)
        send_declarations(url, events)
    changed = {(record.name, namespace) for record, namespace in changes}
    rows = [(_change(record, namespace, held), record.name, namespace) for record, namespace in changes]
    every = ((rule.name, namespace) for rule in file.rules for namespace, _ in rule.texts)
    rows += [("unchanged", *one) for one in every if one not in changed]
    _print(rows, file.noun, output, dry_run=dry_run)


def _print(rows: Sequence[tuple[str, str, str]], noun: str, output: Output, *, dry_run: bool) -> None:
    if output is Output.JSON:
        rules = [{"change": change, "name": name, "namespace": namespace} for change, name, namespace in rows]
        print_document({"applied": not dry_run, noun: rules})
        return
    lines = [f"{change}: {safe(name)}  {safe(namespace)}" for change, name, namespace in rows]
    print_lines(map(Text, [*lines, *(["nothing was sent"] if dry_run else [])]))


def _change(record: RuleRecord, namespace: str, held: Sequence[HeldRule]) -> str:
    if record.ended:
        return "ended"
    is_known = any((one.namespace, one.name) == (namespace, record.name) for one in held)
    return "changed" if is_known else "declared"
