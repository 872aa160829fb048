"""E-mails about an incident: the first begins a thread, later ones answer it."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate
from html import escape

from whence.govern.notifications.notice import Act
from whence.govern.notifications.receivers import EmailReceiver
from whence.govern.notifications.rendering.texts import (
    clean,
    headline,
    pages,
    rows,
    runbook_address,
    symptom_lines,
)


def message(act: Act, receiver: EmailReceiver, base: str = "") -> EmailMessage:
    """The message of an act: text, and the same as HTML. Every attempt has the same `Message-ID`."""
    made, domain = EmailMessage(policy=SMTP), receiver.sender.rpartition("@")[2]
    made["From"] = Address("Whence", addr_spec=receiver.sender)
    made["To"] = ", ".join(receiver.to)
    made["Subject"] = headline(act.notice)
    made["Date"] = formatdate(act.notice.at / 1_000_000)
    made["Message-ID"] = f"<{act.id}@{domain}>"
    if act.reference:
        made["In-Reply-To"] = made["References"] = act.reference
    made["Auto-Submitted"] = "auto-generated"
    made["X-Whence-Incident"] = clean(act.notice.incident)
    made.set_content(text(act, base))
    made.add_alternative(html(act, base), subtype="html")
    boundary = f"={act.id}="
    made.set_boundary(boundary)
    return made


def text(act: Act, base: str = "") -> str:
    """The message for people who read text."""
    notice = act.notice
    lines = [headline(notice), "", *(f"{clean(label)}: {clean(words)}" for label, words in rows(notice))]
    if symptoms := [clean(line) for line in symptom_lines(notice)]:
        lines += ["", "Symptoms:", *(f"- {line}" for line in symptoms)]
    lines += ["", *(f"{title}: {address}" for title, address in pages(notice, base))]
    return "\n".join(lines).rstrip() + "\n"


def html(act: Act, base: str = "") -> str:
    """The message as HTML, without script, style sheet or anything to fetch."""
    notice = act.notice
    table = "".join(
        f"<tr><th align=left>{escape(clean(label))}</th><td>{_words(act, label, words)}</td></tr>\n"
        for label, words in rows(notice)
    )
    symptoms = "".join(f"<li>{escape(clean(line))}</li>\n" for line in symptom_lines(notice))
    links = " · ".join(f'<a href="{escape(address)}">{escape(title)}</a>' for title, address in pages(notice, base))
    return (
        f"<h2>{escape(headline(notice))}</h2>\n<table>\n{table}</table>\n"
        + (f"<p>Symptoms:</p>\n<ul>\n{symptoms}</ul>\n" if symptoms else "")
        + (f"<p>{links}</p>\n" if links else "")
    )


def _words(act: Act, label: str, words: str) -> str:
    address = runbook_address(act.notice)
    shown = escape(clean(words))
    return f'<a href="{escape(address)}">{shown}</a>' if address and label == "Runbook" else shown
