"""The weekly report as an e-mail, and as a message of Slack."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from hashlib import sha256
from typing import Any

from whence.client.acts.reports import WeeklyReport
from whence.govern.notifications.receivers import EmailReceiver
from whence.govern.reports.rendering.html import render_html
from whence.govern.reports.rendering.markdown import render_markdown
from whence.govern.reports.rendering.sections import Section, period_text, sections_of, title_of
from whence.govern.slack_blocks import Block, Message, content, item, text
from whence.query.answers.instants import read_iso


def render_mail(found: WeeklyReport, receiver: EmailReceiver) -> EmailMessage:
    """The message: Markdown, and the same as HTML. The same report for the same receiver is the same message."""
    made, domain = EmailMessage(policy=SMTP), receiver.sender.rpartition("@")[2]
    body = render_markdown(found)
    digest = sha256("\0".join((body, *receiver.to)).encode("utf-8", "backslashreplace")).hexdigest()[:32]
    made["From"] = Address("Whence", addr_spec=receiver.sender)
    made["To"] = ", ".join(receiver.to)
    made["Subject"] = f"Whence: {title_of(found)}"
    made["Date"] = formatdate(read_iso(found.period.until) / 1_000_000)
    made["Message-ID"] = f"<{digest}@{domain}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(body)
    made.add_alternative(render_html(found).decode(), subtype="html")
    made.set_boundary(f"={digest}=")
    return made


def render_slack(found: WeeklyReport) -> dict[str, Any]:
    """Text and blocks: the sentences of each section. Tables are in the other forms."""
    items = [_item(one) for one in sections_of(found)]
    return content(Message(title=title_of(found), about=period_text(found), items=items))


def _item(one: Section) -> Block:
    sentences = one.sentences or tuple(f"{label}: {after} ({change})" for label, _, after, change in _rows(one))
    return item(text(f"{one.title}: ", bold=True), *(text(f"{sentence} ") for sentence in sentences))


def _rows(one: Section) -> list[tuple[str, str, str, str]]:
    """The rows of the table of coverage, which are figures only."""
    rows = one.table.rows if one.table else ()
    return [(str(a), str(b), str(c), str(d)) for a, b, c, d in rows]
