"""`whence certification list`, `show` and `evaluate`: which datasets are certified, and why others are not."""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from rich.text import Text

from whence.cli.certification.files import load_rules
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.client.acts.certification import Certification, Certifications
from whence.client.questions import Client
from whence.govern.certification.current import certify, list_named
from whence.govern.certification.documents import certification_document
from whence.model.names import DatasetName
from whence.query.answers.instants import iso
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import open_graph

NO_RULE = "No dataset has a rule of certification."
_MOST_NAMED = 10


def show_all(questions: Client, namespace: str, status: str, as_of: int | None, output: Output) -> Exit:
    """Print the certification of the datasets that have a rule."""
    found = questions.certifications(namespace=namespace, status=status, as_of=_text(as_of))
    _print(found, output, f"No dataset has the status {status!r}." if status else NO_RULE)
    return Exit.OK


def show_one(questions: Client, dataset: str, as_of: int | None, output: Output) -> Exit:
    """Print the certification of a dataset."""
    found = questions.certification(dataset, as_of=_text(as_of))
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
    else:
        print_lines(map(Text, _detail(found)))
    return _exit_of([found])


def show_evaluated(file: Path, url: str, as_of: int | None, output: Output) -> Exit:
    """Print what the rules of a file say of the datasets of a store. Raises RulesFileError, StoreError."""
    rules = load_rules(file)
    now = time.time_ns() // 1_000
    until = now if as_of is None else as_of
    namespaces = {namespace for one in rules for namespace in one.namespaces}
    with open_graph(url) as graph:
        catalog = StoreCatalog(graph.connection)
        names = [one.name for one in list_named(catalog, namespaces, until) if isinstance(one.name, DatasetName)]
        judged = [one for one in certify(catalog, graph, names, now, as_of, rules) if one.found.rules]
    documents = [certification_document(one, is_whole=True) for one in judged]
    found = msgspec.convert({"at": iso(until), "datasets": documents}, Certifications)
    _print(found, output)
    return _exit_of(found.datasets)


def _print(found: Certifications, output: Output, empty: str = NO_RULE) -> None:
    if output is Output.JSON:
        print_document(msgspec.to_builtins(found))
        return
    lines = [line for one in found.datasets for line in _summary(one)]
    print_lines(map(Text, lines or [empty]))


def _exit_of(found: Iterable[Certification]) -> Exit:
    statuses = {one.status for one in found}
    if "not certified" in statuses:
        return Exit.BLOCKED
    return Exit.UNKNOWN if statuses & {"not evaluated", "no rule"} else Exit.OK


def _text(as_of: int | None) -> str | None:
    return None if as_of is None else iso(as_of)


def _summary(one: Certification) -> Iterator[str]:
    yield f"{one.status}: {safe(one.node)}{_tags(one)}"
    for rule in one.rules:
        yield from (
            f"  {each.outcome}  {each.requirement}: {safe(each.text)}"
            for each in rule.requirements
            if each.outcome != "met"
        )


def _detail(one: Certification) -> Iterator[str]:
    yield f"{one.status}: {safe(one.node)}{_tags(one)}"
    for rule in one.rules:
        yield f"by the rule {safe(rule.rule)}{_about(rule.reason, rule.owner)}"
        for each in rule.requirements:
            yield f"  {each.outcome}  {each.requirement}: {safe(each.text)}"
            yield from _named([*each.names, *each.columns])


def _about(reason: str | None, owner: str | None) -> str:
    return "".join((f": {safe(reason)}" if reason else "", f"; ask {safe(owner)}" if owner else ""))


def _named(names: Sequence[str]) -> Iterator[str]:
    yield from (f"    {safe(name)}" for name in names[:_MOST_NAMED])
    if len(names) > _MOST_NAMED:
        yield f"    and {len(names) - _MOST_NAMED:,} more"


def _tags(one: Certification) -> str:
    """What people tagged it; also that this says something else than the rules."""
    tags = ["canonical"] if one.canonical else []
    if one.tagged and one.status not in ("certified", "no rule"):
        tags.append("tagged certified by hand")
    return f"  ({', '.join(tags)})" if tags else ""
