"""`whence access review` and `keep`: every grant as a reviewer judges it, and the decision to keep one."""

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from whence.cli.administration.access.keys import read, recorded
from whence.cli.output.streams import Rows, print_csv, print_document, print_lines, safe
from whence.csv_text import csv_text
from whence.errors import AccessError
from whence.govern.access_document import ReviewedGrantDocument, review_document
from whence.govern.access_facts import read_access_facts
from whence.govern.access_review import KEEP, review_access
from whence.govern.grants import require_grant
from whence.model.sensitivity import Grade
from whence.query.sensitivity.estate_labels import label_estate
from whence.query.sensitivity.labelled_columns import LabelledColumn, labelled_columns
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import open_graph


def show_review(security: str, lineage: str, now: int, window: int, output: Rows) -> None:
    """Print all grants, those with the most concerns first. `window` in µs. Raises StoreError."""
    columns = _labelled(lineage)
    with read(security) as connection:
        facts = read_access_facts(connection, columns)
    found = [review_document(one) for one in review_access(facts, now, window)]
    match output:
        case Rows.JSON:
            print_document({"grants": found})
        case Rows.CSV:
            print_csv(csv_text(_COLUMNS, map(_row, found)))
        case Rows.TEXT:
            print_lines([Text(safe(line)) for line in _lines(found, len(columns))])


def keep_grant(security: str, subject: str, namespaces: str, reason: str) -> None:
    """Write the decision to keep a grant to the audit log. Raises AccessError if there is no such grant, StoreError."""
    if not reason.strip() or not reason.isprintable():
        raise AccessError("a reason is required, one line", 422)
    with recorded(security, KEEP.removeprefix("whence "), subject, namespaces, reason) as connection:
        grant = require_grant(connection, subject, namespaces)
    print_lines([Text(safe(f"{subject} stays {grant.role.name.lower()} in {namespaces}"))])


def _labelled(lineage: str) -> Sequence[LabelledColumn]:
    with open_graph(lineage) as graph:
        return labelled_columns(graph, label_estate(StoreCatalog(graph.connection), graph), Grade.PARTIAL)


def _lines(found: Sequence[ReviewedGrantDocument], columns: int) -> Iterator[str]:
    for one in found:
        yield f"{one['subject']}  {one['role']} in {one['namespaces']}"
        yield f"    {_use(one)}; {_shown(one)}"
        if one["concerns"]:
            yield f"    {', '.join(one['concerns'])}"
        if kept := one["kept"]:
            yield f"    kept by {kept['by']}, {kept['at']}: {kept['reason']}"
    concerned = sum(bool(one["concerns"]) for one in found)
    grants = f"{len(found)} grant{'' if len(found) == 1 else 's'}"
    yield f"{grants}, {concerned} with concerns; {columns} columns with sensitive data are known"


def _use(one: ReviewedGrantDocument) -> str:
    if one["used_at"] is None:
        return "no use in the audit log"
    strongest = "" if one["strongest_use"] is None else f", as {one['strongest_use']} at most"
    return f"last used {one['used_at']}{strongest}"


def _shown(one: ReviewedGrantDocument) -> str:
    shown = [f"{one['columns'][grade]} {grade}" for grade in _grades(one)]
    return f"shows sensitive columns: {', '.join(shown)}" if shown else "shows no sensitive columns that are known"


def _grades(one: ReviewedGrantDocument) -> Iterator[str]:
    return (grade.word for grade in sorted(Grade, reverse=True) if grade.word in one["columns"])


_COLUMNS = ("subject", "role", "namespaces", "used_at", "strongest_use", "sensitive_columns", "concerns", "kept")


def _row(one: ReviewedGrantDocument) -> Mapping[str, object]:
    kept = one["kept"]
    return {
        **one,
        "sensitive_columns": sum(one["columns"].values()),
        "concerns": "; ".join(one["concerns"]),
        "kept": None if kept is None else f"{kept['by']} {kept['at']}: {kept['reason']}",
    }
