"""`whence alert test`: who would be notified of an incident, with what, and whether it arrives."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.alerts.retrain_trial import RetrainTrial
from whence.cli.gate.contracts.files import read_text
from whence.cli.output.mistakes import print_mistakes
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import DeliveryError, RulesFileError
from whence.govern.notifications.adapters.http import Http, open_http
from whence.govern.notifications.deliver import deliver, kind_of, place_text, preview
from whence.govern.notifications.notice import Act, Detail, Link, Notice, Severity, State, Symptom
from whence.govern.notifications.receivers import EVERYTHING, Receiver, Receivers
from whence.govern.notifications.receivers_file import read_receivers
from whence.govern.notifications.report_schedules import ReportSchedule
from whence.model.names import DatasetName
from whence.query.answers.instants import iso

_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """An incident that nobody has, of the properties that routes ask for."""

    severity: Severity
    owner: str = ""
    tier: str = ""
    domain: str = ""
    namespace: str = ""
    is_over: bool = False

    def notice(self, now: int) -> Notice:
        """The incident at a time (µs). Receivers know every trial as one incident, so a later one can end it."""
        root = DatasetName(self.namespace, "shop.orders")
        below = DatasetName(self.namespace, "shop.revenue_daily")
        since, end = now - 12 * _MINUTE, now if self.is_over else None
        return Notice(
            incident="test",
            transition=str(now),
            state=State.RESOLVED if self.is_over else State.OPEN,
            severity=self.severity,
            title="Test of Whence: shop.orders is late, 1 dataset downstream",
            root=root,
            at=now,
            since=since,
            symptoms=(
                Symptom(node=root, rule="test/orders-fresh", text="no write for 42 min", since=since, until=end),
                Symptom(node=below, rule="test/revenue-fresh", text="no write for 31 min", since=since, until=end),
            ),
            owners=(self.owner,) if self.owner else (),
            tier=self.tier,
            domain=self.domain,
            resolved_at=end,
            details=(Detail(label="This is a test", text="Nothing is wrong. Nothing has to be done."),),
            links=(Link(title="Open in Whence", path="/ui/"),),
        )

    def receivers_of(self, found: Receivers, now: int) -> Sequence[Receiver]:
        """Whom the routes choose."""
        return found.of(self.notice(now))

    def render(self, receiver: Receiver, now: int, base: str) -> str:
        """What a receiver gets."""
        return preview(receiver, _act(receiver, self.notice(now)), base)

    def send(self, http: Http, receiver: Receiver, now: int, base: str) -> None:
        """Send it. Raises DeliveryError."""
        deliver(http, receiver, _act(receiver, self.notice(now)), base)


def show_trial(
    file: Path, trial: Trial | RetrainTrial, receivers: Sequence[str], output: Output, *, is_sent: bool
) -> Exit:
    """Print what each receiver of a trial would get, or send it. `receivers`: names; by the routes if empty.

    Raises ArtifactError, RulesFileError.
    """
    found = load_receivers(file)
    now = time.time_ns() // 1_000
    chosen = _named(found, receivers, file) if receivers else trial.receivers_of(found, now)
    if not is_sent:
        _show(chosen, [trial.render(one, now, found.url) for one in chosen], output)
        return Exit.OK
    with open_http() as http:
        results = [(one, _attempt(http, trial, one, now, found.url)) for one in chosen]
    if output is Output.JSON:
        print_document({"sent": [_result(one, mistake) for one, mistake in results]})
    else:
        print_lines(Text(_line(one, mistake)) for one, mistake in results)
    return Exit.OUT_OF_SERVICE if any(mistake for _, mistake in results) else Exit.OK


def show_receivers(file: Path, output: Output) -> Exit:
    """Check a file, and print its receivers, or its mistakes. Raises ArtifactError."""
    try:
        found = load_receivers(file)
    except RulesFileError as error:
        return print_mistakes(error, output, {"receivers": [], "reports": []})
    if output is Output.JSON:
        reports = [_schedule_document(one) for one in found.reports]
        listed = [_document(one) for one in found.receivers]
        print_document({"valid": True, "mistakes": [], "receivers": listed, "reports": reports})
    else:
        print_lines(map(Text, _lines(found)))
    return Exit.OK


def load_receivers(file: Path) -> Receivers:
    """Read a file of receivers. Raises RulesFileError with file and line, ArtifactError."""
    return read_receivers(read_text(file), file.as_posix())


def _named(found: Receivers, names: Sequence[str], file: Path) -> tuple[Receiver, ...]:
    known = {one.name: one for one in found.receivers}
    for name in names:
        if name not in known:
            raise RulesFileError(file.as_posix(), f"no receiver is named {name!r}; it has {', '.join(known) or 'none'}")
    return tuple(known[name] for name in names)


def _show(chosen: Sequence[Receiver], contents: Sequence[str], output: Output) -> None:
    rendered = list(zip(chosen, contents, strict=True))
    if output is Output.JSON:
        print_document({"receivers": [{**_document(one), "content": content} for one, content in rendered]})
        return
    for one, content in rendered:
        print_lines([Text(f"== {safe(one.name)} ({kind_of(one)}: {safe(place_text(one))})")])
        print_lines([Text(safe(content, keep="\n"))])
    print_lines([Text("nothing was sent; send it with --send")])


def _attempt(http: Http, trial: Trial | RetrainTrial, one: Receiver, now: int, base: str) -> str:
    """Send; returns why it failed, empty if it did not."""
    try:
        trial.send(http, one, now, base)
    except DeliveryError as error:
        return str(error)
    return ""


def _act(one: Receiver, notice: Notice) -> Act:
    """The act of a trial. What ends one looks for what an earlier trial sent."""
    return Act(notice=notice, receiver=one.name, is_repeated=notice.state.is_over)


def _lines(found: Receivers) -> Iterator[str]:
    for one in found.receivers:
        limit = "" if one.namespaces == EVERYTHING else f"  sees {safe(', '.join(one.namespaces))}"
        limit = f"  reads as {safe(one.reader)}" if one.reader else limit
        yield f"{safe(one.name)}  {kind_of(one)}  {safe(place_text(one))}{limit}"
    for schedule in found.reports:
        due = iso(schedule.next_due(time.time_ns() // 1_000))
        yield f"weekly report  {schedule.text}  to {safe(', '.join(schedule.receivers))}  next {due}"
    count = len(found.receivers)
    yield f"{count} receiver{'s' * (count != 1)}, valid"


def _document(one: Receiver) -> dict[str, Any]:
    return {
        "name": one.name,
        "kind": kind_of(one),
        "place": place_text(one),
        "namespaces": list(one.namespaces),
        "reader": one.reader or None,
    }


def _schedule_document(one: ReportSchedule) -> dict[str, Any]:
    due = iso(one.next_due(time.time_ns() // 1_000))
    return {"receivers": list(one.receivers), "weekly": one.text, "next": due}


def _result(one: Receiver, mistake: str) -> dict[str, Any]:
    return {"name": one.name, "kind": kind_of(one), "mistake": mistake or None}


def _line(one: Receiver, mistake: str) -> str:
    return f"{'failed' if mistake else 'sent'}: {safe(one.name)}" + (f"  {safe(mistake)}" if mistake else "")
