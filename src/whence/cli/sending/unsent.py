"""`whence capture flush`: what waits in the outbox of this user is sent to the collectors that it was for."""

from collections.abc import Iterable
from dataclasses import asdict

from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence_client.outbox.flush import Flushed, flush_outbox
from whence_client.outbox.outbox import process_outbox
from whence_client.process.settings import HTTP, read_settings
from whence_client.redaction.credentials import strip_credentials


def flush_unsent(output: Output) -> Exit:
    """Send, and report of each collector what became of its events."""
    done = list(flush_outbox(read_settings()))
    if output is Output.JSON:
        print_document({"collectors": [asdict(one) for one in done]})
    else:
        print_lines(_lines(done))
    return Exit.OUT_OF_SERVICE if any(one.waiting or one.large for one in done) else Exit.OK


def delivery_sentence() -> str:
    """What became of the events of this process, after the wait that its end has anyway; empty if there were none, or
    they do not go to a collector.
    """
    outbox = process_outbox()
    if outbox.settings.transport != HTTP:
        return ""
    collector = safe(strip_credentials(outbox.settings.url))
    is_sent, status = outbox.flush(outbox.settings.exit_seconds), outbox.status()
    if not status.emitted:
        return ""
    if status.refused:
        return f"{collector} refused {status.refused} events of this run: {safe(status.problem) or 'see its log'}"
    if not is_sent:
        why = safe(status.problem) or "no answer yet"
        return f"the events of this run wait for {collector} ({why}): whence capture flush"
    return f"this run was reported to {collector}"


def _lines(done: Iterable[Flushed]) -> list[Text]:
    lines = [Text.assemble((safe(one.url), "bold"), ": ", _sentence(one)) for one in done if _has_news(one)]
    return lines or [Text("no event waits")]


def _has_news(one: Flushed) -> bool:
    return bool(one.sent or one.refused or one.large or one.waiting)


def _sentence(one: Flushed) -> str:
    parts = [f"{one.sent} events sent"]
    if one.refused:
        parts.append(f"{one.refused} refused")
    if one.large:
        parts.append(f"{one.large} too large for it; they are kept")
    if one.waiting:
        parts.append(f"{one.waiting:,} bytes still wait: {safe(one.problem) or 'try again'}")
    return ", ".join(parts)
