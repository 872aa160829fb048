"""`whence audit`: the work and output of its commands."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from whence.cli.administration.keys import read
from whence.cli.output.streams import Output, print_document, print_lines, safe
from whence.errors import AuditError
from whence.govern.access_document import entry_document
from whence.query.answers.instants import iso
from whence.store.security.audit import AuditFilter, Entry, Head, read_audit, verify_log


def show_verified(url: str, anchor: Path | None, export: bool, output: Output) -> None:
    """Verify the audit log, against the heads in a file if one is given. Raises AuditError, StoreError."""
    anchors = _anchors(anchor) if anchor and (anchor.exists() or not export) else ()
    with read(url) as connection:
        head = verify_log(connection, anchors)
    if anchor and export:
        with anchor.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(head)) + "\n")
    if output is Output.JSON:
        print_document({"rows": head.number, "head": head.hash, "anchors": len(anchors)})
        return
    found = f"{head.number:,} rows are as they were written; {len(anchors)} anchors are among them"
    print_lines([Text(found), Text(f"head {head.hash}")])


def show_audit(url: str, sought: AuditFilter, output: Output) -> None:
    """List entries, newest first. Raises StoreError."""
    with read(url) as connection:
        found = read_audit(connection, sought)
    if output is Output.JSON:
        print_document({"entries": [entry_document(number, one) for number, one in found]})
        return
    print_lines([Text(safe(_line(number, one))) for number, one in found])


def _anchors(file: Path) -> Sequence[Head]:
    try:
        return [Head(**json.loads(line)) for line in file.read_text("utf-8").splitlines()]
    except (OSError, ValueError, TypeError) as error:
        raise AuditError(0, f"cannot be compared: {file} has no anchors ({error})") from None


def _line(number: int, one: Entry) -> str:
    status = f" {one.status}" if one.status else ""
    about = f"  {', '.join(one.nodes)}" if one.nodes else ""
    count = f"  ({one.count:,})" if one.count else ""
    return f"{number}  {iso(one.at)}  {one.who}  {one.action}{status}  {one.what}{about}{count}"
