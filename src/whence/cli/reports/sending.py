"""`whence report weekly --send`: the report by e-mail and Slack, each receiver with what it may see."""

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from whence.cli.alerts.trial import load_receivers
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.cli.reports.store import ReportQuestions, StoreReports
from whence.client.acts.reports import WeeklyReport
from whence.errors import DeliveryError, RulesFileError
from whence.govern.notifications.adapters import mail, slack
from whence.govern.notifications.adapters.http import Http, open_http
from whence.govern.notifications.deliver import kind_of
from whence.govern.notifications.receivers import EVERYTHING, EmailReceiver, Receiver, SlackReceiver
from whence.govern.reports.rendering.messages import render_mail, render_slack
from whence.query.answers.instants import iso

RequestedWeek = tuple[str, int | None, int | None]
"""A week, the end of seven days, and as of when (µs)."""


def send_weekly(
    questions: ReportQuestions, requested: RequestedWeek, file: Path, names: Sequence[str], output: Output
) -> Exit:
    """Send the report to receivers of a file, by name. Raises RulesFileError, StoreError, LogError, ApiError."""
    reports = [(one, _read(questions, requested, one, file)) for one in _choose(file, names)]
    with open_http() as http:
        results = [(one, _attempt(http, one, report)) for one, report in reports]
    if output is Output.JSON:
        sent = [{"name": one.name, "kind": kind_of(one), "mistake": mistake or None} for one, mistake in results]
        print_document({"sent": sent})
    else:
        print_lines(Text(_line(one, mistake)) for one, mistake in results)
    return Exit.OUT_OF_SERVICE if any(mistake for _, mistake in results) else Exit.OK


def _read(questions: ReportQuestions, requested: RequestedWeek, receiver: Receiver, file: Path) -> WeeklyReport:
    """The report as a receiver may read it. A server answers for the key, and not for others."""
    week, until, as_of = requested
    times = {"until": None if until is None else iso(until), "as_of": None if as_of is None else iso(as_of)}
    if isinstance(questions, StoreReports):
        return questions.weekly_report(week=week, **times, viewer=receiver.viewer)
    if receiver.namespaces != EVERYTHING:
        reason = f"{receiver.name!r} may not see everything: send its report from the store, without --url"
        raise RulesFileError(file.as_posix(), reason)
    return questions.weekly_report(week=week, **times)


def _choose(file: Path, names: Sequence[str]) -> Sequence[Receiver]:
    known = {one.name: one for one in load_receivers(file).receivers}
    for name in names:
        if name not in known:
            raise RulesFileError(file.as_posix(), f"no receiver is named {name!r}; it has {', '.join(known) or 'none'}")
        if not isinstance(known[name].target, EmailReceiver | SlackReceiver):
            raise RulesFileError(file.as_posix(), f"{name!r} gets no reports: name receivers of e-mail or Slack")
    return [known[name] for name in names]


def _attempt(http: Http, receiver: Receiver, report: WeeklyReport) -> str:
    """Send; returns why it failed, empty if it did not."""
    try:
        match receiver.target:
            case EmailReceiver() as target:
                mail.send(target, render_mail(report, target))
            case SlackReceiver() as target:
                slack.post(http, target, render_slack(report))
    except DeliveryError as error:
        return str(error)
    return ""


def _line(one: Receiver, mistake: str) -> str:
    return f"{'failed' if mistake else 'sent'}: {safe(one.name)}" + (f"  {safe(mistake)}" if mistake else "")
