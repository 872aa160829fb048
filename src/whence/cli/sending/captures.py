"""`whence capture list|run|backfill`: the captures that are registered, and polls of their sources."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from whence.capture.polling.cursors import Cursors, Progress
from whence.capture.polling.poll import Polled, Poller
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.sending.reports import SHOWN
from whence.model.access import GRANT_COMMAND
from whence_client.captures import Naming, RecordCapture, Window
from whence_client.captures.contract import POLL
from whence_client.captures.registry import Registered, registered_captures
from whence_client.outbox import Outbox, OutboxStatus
from whence_client.process.parent import parent_of_process
from whence_client.process.settings import read_settings

FOLDER = "captures"
"""Below the data directory: the cursors."""
_SENT_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PollOptions:
    """The terminal output of a poll. `every`: seconds between two polls, 0 for one poll."""

    data: Path
    url: str
    namespace: str
    window: Window
    rate: float = 0.0
    every: float = 0.0
    slot: str = ""


def list_captures(data: Path, output: Output) -> Exit:
    """Every registered capture: its kind, the version found here, and the state of its sources."""
    progress = list(Cursors(data / FOLDER))
    entries = [_entry(one, progress) for one in registered_captures()]
    if output is Output.JSON:
        print_document({"captures": entries})
    else:
        print_lines(line for entry in entries for line in _lines(entry))
    return Exit.OK


def run_capture(name: str, options: Mapping[str, str], poll: PollOptions, output: Output) -> Exit:
    """Poll a source, once or for ever. Raises typer.BadParameter for a capture or an option that is wrong."""
    source = _configured(name, options)
    if source.kind != POLL and (problems := source.check().problems):
        raise typer.BadParameter(problems[0])  # files that are not there; a server may be there at the next poll
    outbox = Outbox(replace(read_settings(), url=poll.url, namespace=poll.namespace))
    poller = Poller(
        capture=source,
        outbox=outbox,
        cursors=Cursors(poll.data / FOLDER),
        naming=Naming(poll.namespace, source.instance, parent_of_process()),
        window=poll.window,
        rate=poll.rate,
        slot=poll.slot,
    )
    try:
        while True:
            refused = outbox.status().refused
            done = poller.poll()
            is_sent = outbox.flush(_SENT_SECONDS)
            done = _with_refusals(done, poller, outbox.status(), refused)
            _report(name, done, is_sent, outbox, output)
            if not poll.every:
                return Exit.OUT_OF_SERVICE if done.problem or not is_sent else Exit.OK
            time.sleep(poll.every)
    finally:
        outbox.close()


def _with_refusals(done: Polled, poller: Poller, status: OutboxStatus, before: int) -> Polled:
    """The poll with the problem that the collector refused events of it. Of those that lack a grant the next poll
    sends all again.
    """
    count = status.refused - before
    if not count:
        return done
    reasons = status.refusals[-count:]
    lacks_grant = any(GRANT_COMMAND in one for one in reasons)
    problem = f"the collector refused {count} events, such as {reasons[-1]}"
    problem += "; the next poll sends them again" if lacks_grant else ""
    poller.note_refusal(problem, is_repeated=lacks_grant)
    return replace(done, problem=done.problem or problem)


def _configured(name: str, options: Mapping[str, str]) -> RecordCapture:
    found = list(registered_captures(name))
    if not found:
        names = ", ".join(sorted(one.entry for one in registered_captures()))
        raise typer.BadParameter(f"no capture is named {name}; there are {names}")
    chosen = next((one.capture for one in found if hasattr(one.capture, "configure")), None)
    if chosen is None:
        raise typer.BadParameter(found[0].problem or f"{name} captures inside of the job's process; see `whence run`")
    if unknown := sorted(set(options) - set(chosen.options)):
        raise typer.BadParameter(f"{name} has no option {unknown[0]}; it has {', '.join(chosen.options)}")
    try:
        configured: RecordCapture = chosen.configure(options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return configured


def _entry(one: Registered, progress: Iterable[Progress]) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": one.entry, "problem": one.problem}
    if one.capture is None:
        return entry
    findings = one.capture.check()
    sources = [asdict(each) for each in progress if each.capture == one.capture.name]
    versions = asdict(one.capture.versions)
    return {
        **entry,
        "kind": one.capture.kind,
        "found": findings.version,
        "tried": versions,
        "problem": "; ".join(findings.problems),
        "doubt": "; ".join(findings.doubts),
        "options": dict(getattr(one.capture, "options", {})),
        "sources": sources,
    }


def _lines(entry: Mapping[str, Any]) -> list[Text]:
    found = safe(entry.get("found", "")) or "-"
    remark = safe(entry["problem"] or entry.get("doubt", ""))
    head = Text.assemble((f"{safe(entry['name']):12}", "bold"), f" {entry.get('kind', '?'):7} {found:10} {remark}")
    return [head, *(_source_line(one) for one in entry.get("sources", ()))]


def _source_line(source: Mapping[str, str]) -> Text:
    problem = f"; {safe(source['problem'])}" if source["problem"] else ""
    last = safe(source["last_event"]) or "none"
    return Text(f"    {safe(source['instance'])}: polled {safe(source['polled'])}, last event {last}{problem}")


def _report(name: str, done: Polled, is_sent: bool, outbox: Outbox, output: Output) -> None:
    problem = done.problem or ("" if is_sent else outbox.status().problem)
    if output is Output.JSON:
        print_document({"capture": name, **asdict(done), "sent": is_sent, "problem": problem})
        return
    problems = (*done.flaws[:SHOWN], *done.gaps[:SHOWN])
    print_lines([Text(safe(one)) for one in problems], Console(stderr=True, highlight=False))
    unread = f", {done.unread} records not translated" if done.unread else ""
    unread += f", {done.incomplete} records incomplete" if done.incomplete else ""
    waits = f"; {safe(problem)}" if problem else ""
    print_lines([Text(f"{safe(name)}: {done.events} events of {done.records} records{unread}{waits}")])
