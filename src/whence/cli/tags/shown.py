"""`whence tags plan`, `check` and `import`: read an export, ask the server, write a file, send events, print."""

import getpass
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.declarations import send_declarations
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.tags.knowledge import connected, read_export_text, read_known
from whence.client.questions import connect
from whence.errors import ArtifactError, QuestionError
from whence.govern.assertions import assert_facets, replace_tags
from whence.govern.tags.exports import TagExport, TagSystem
from whence.govern.tags.imports import TagImports, find_imports
from whence.govern.tags.known import KnownDataset, KnownTag
from whence.govern.tags.plan import Change, LeftOut, TagPlan, plan_tags
from whence.govern.tags.systems.choice import SystemName
from whence.model.sensitivity import Grade
from whence.openlineage.authority.restrictions import person_uri


@dataclass(frozen=True, slots=True, kw_only=True)
class TagCommand:
    """A command about the tags of a system. `export`: a file with the tags that it has; None: it has none yet."""

    name: SystemName
    system: TagSystem
    namespace: str
    export: Path | None
    url: str
    output: Output


def write_plan(command: TagCommand, target: Path, at_least: Grade) -> Exit:
    """Write the file that gives a system the tags of labels. Raises ArtifactError, ApiError, QuestionError."""
    if command.export is None and command.system.form.requires:
        raise QuestionError("current", f"a plan for {command.name} is made of an export: give one with --current FILE")
    text, export = _read(command)
    plan = _plan(command, _known(command), export, at_least)
    content = command.system.write(plan, text)
    try:
        target.write_text(content, "utf-8")
    except OSError as error:
        raise ArtifactError(str(target), error.strerror or str(error)) from None
    if command.output is Output.JSON:
        print_document({"file": str(target), **_plan_document(plan)})
        return Exit.OK
    print_lines([*map(_change_line, plan.changes), *map(_left_out_line, plan.left_out)])
    sets = sum(one.value is not None for one in plan.changes)
    counts = f"{sets} to set, {len(plan.changes) - sets} to remove, {plan.unchanged} as they should be"
    print_lines([Text(f"{safe(str(target))}: {counts}")])
    return Exit.OK


def check(command: TagCommand, at_least: Grade) -> Exit:
    """Print how a system and Whence differ; BLOCKED if they do. Raises ArtifactError, ApiError, QuestionError."""
    _, export = _read(command)
    known = _known(command)
    plan, imports = _plan(command, known, export, at_least), _imports(command, known, export, complete=False)
    differs = bool(plan.changes or imports.changes)
    if command.output is Output.JSON:
        print_document({"differs": differs, **_plan_document(plan), **_imports_document(imports)})
    else:
        print_lines([*map(_change_line, plan.changes), *_import_lines(imports), *map(_left_out_line, plan.left_out)])
        print_lines([Text("the tags differ" if differs else "the tags agree")])
    return Exit.BLOCKED if differs else Exit.OK


def import_tags(command: TagCommand, *, complete: bool, dry_run: bool) -> Exit:
    """Send the tags of a system as events, and print them. Raises ArtifactError, ApiError, QuestionError."""
    _, export = _read(command)
    imports = _imports(command, _known(command), export, complete=complete)
    if not dry_run:
        _send(command, imports)
    if command.output is Output.JSON:
        print_document({"sent": not dry_run, **_imports_document(imports)})
        return Exit.OK
    print_lines([*_import_lines(imports), *(_unknown_line(one) for one in imports.unknown)])
    done = "would change" if dry_run else "changed"
    print_lines([Text(f"{len(imports.changes)} datasets {done}, {imports.unchanged} as they were")])
    return Exit.OK


def _read(command: TagCommand) -> tuple[str, TagExport]:
    if command.export is None:
        return "", TagExport()
    text = read_export_text(command.export)
    return text, command.system.read(text, str(command.export))


def _known(command: TagCommand) -> list[KnownDataset]:
    with connected(command.url) as connection:
        return read_known(connection, command.namespace)


def _plan(command: TagCommand, known: Iterable[KnownDataset], export: TagExport, at_least: Grade) -> TagPlan:
    return plan_tags(known, export.tags, command.system.form, at_least, export.places)


def _imports(command: TagCommand, known: Iterable[KnownDataset], export: TagExport, *, complete: bool) -> TagImports:
    if command.name is SystemName.DBT:  # its tags come with `whence capture dbt`
        return TagImports(changes=(), unchanged=0, unknown=())
    return find_imports(known, export, command.system.form, command.name.source, complete=complete)


def _send(command: TagCommand, imports: TagImports) -> None:
    with connect(command.url) as questions:
        sender = questions.whoami()
    producer, at = person_uri(sender.name if sender else getpass.getuser()), time.time_ns() // 1_000
    events = (
        (str(one.dataset), assert_facets(one.dataset, at, producer, {"tags": replace_tags(map(_entry, one.tags))}))
        for one in imports.changes
    )
    send_declarations(command.url, events)


def _entry(tag: KnownTag) -> dict[str, Any]:
    optional = {"field": tag.field, "source": tag.source}
    return {"key": tag.key, "value": tag.value, **{key: value for key, value in optional.items() if value}}


def _change_line(one: Change) -> Text:
    place = safe(str(one.place))
    if one.value is None:
        return Text(f"remove {safe(one.key)}={safe(one.before or '')}  {place}")
    before = f" (was {safe(one.before)})" if one.before else ""
    return Text(f"set {safe(one.key)}={safe(one.value)}{before}  {place}")


def _left_out_line(one: LeftOut) -> Text:
    return Text(f"left out  {safe(one.place)}: {safe(one.reason)}")


def _unknown_line(table: str) -> Text:
    return Text(f"left out  {safe(table)}: no dataset that you may see is this table")


def _import_lines(imports: TagImports) -> Iterable[Text]:
    for one in imports.changes:
        for tag, verb in [*((tag, "learn") for tag in one.added), *((tag, "forget") for tag in one.removed)]:
            on = f"{one.dataset.name}{'.' if tag.field else ''}{tag.field}"
            yield Text(f"{verb} {safe(tag.key)}={safe(tag.value)}  {safe(on)}")


def _plan_document(plan: TagPlan) -> dict[str, Any]:
    return {
        "changes": [
            {
                "table": list(one.place.table),
                "column": one.place.column,
                "key": one.key,
                "value": one.value,
                "before": one.before,
            }
            for one in plan.changes
        ],
        "left_out": [{"place": one.place, "reason": one.reason} for one in plan.left_out],
        "unchanged": plan.unchanged,
    }


def _imports_document(imports: TagImports) -> dict[str, Any]:
    changes = [
        {
            "dataset": str(one.dataset),
            "added": list(map(_entry, one.added)),
            "removed": list(map(_entry, one.removed)),
        }
        for one in imports.changes
    ]
    return {"imports": changes, "imports_unchanged": imports.unchanged, "unknown": list(imports.unknown)}
