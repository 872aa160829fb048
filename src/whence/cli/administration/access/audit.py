"""`whence audit`: the work and output of its commands."""

from rich.text import Text

from whence.cli.administration.access.keys import read
from whence.cli.output.streams import Output, print_document, print_lines, safe
from whence.govern.access_document import entry_document
from whence.query.answers.instants import iso
from whence.store.security.audit import AuditFilter, Entry, read_audit, verify_log


def show_verified(url: str, output: Output) -> None:
    """Verify the audit log. Raises AuditError, StoreError."""
    with read(url) as connection:
        head = verify_log(connection)
    if output is Output.JSON:
        print_document({"rows": head.number, "head": head.hash})
        return
    print_lines([Text(f"{head.number:,} rows are as they were written"), Text(f"head {head.hash}")])


def show_audit(url: str, sought: AuditFilter, output: Output) -> None:
    """List entries, newest first. Raises StoreError."""
    with read(url) as connection:
        found = read_audit(connection, sought)
    if output is Output.JSON:
        print_document({"entries": [entry_document(number, one) for number, one in found]})
        return
    print_lines([Text(safe(_line(number, one))) for number, one in found])


def _line(number: int, one: Entry) -> str:
    status = f" {one.status}" if one.status else ""
    about = f"  {', '.join(one.nodes)}" if one.nodes else ""
    count = f"  ({one.count:,})" if one.count else ""
    return f"{number}  {iso(one.at)}  {one.who}  {one.action}{status}  {one.what}{about}{count}"
