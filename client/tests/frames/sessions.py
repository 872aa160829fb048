"""What the tests of frames share: a session that keeps its events, and lineage as lines of text."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from whence_client.captures import Session
from whence_client.outbox import Outbox
from whence_client.process.settings import Settings


class Kept(Session):
    """A session whose events stay here."""

    def __init__(self) -> None:
        super().__init__(Outbox(Settings(transport="off", namespace="dev")))
        self.events: list[Any] = []

    def emit(self, event: Any, *, capture: str = "") -> bool:
        self.events.append(event)
        return True


class Installable(Protocol):
    """A capture that patches a library until it is undone."""

    def install(self, session: Session, /) -> Callable[[], None]: ...


@contextmanager
def capturing(*captures: Installable) -> Iterator[Kept]:
    """A session under captures, which are undone at the end, the last one first."""
    made = Kept()
    with ExitStack() as undone:
        for one in captures:
            undone.callback(one.install(made))
        yield made


def read_cases(name: str, folder: Path = Path(__file__).parent) -> dict[str, str]:
    """The cases of a golden file: by title, the code and the lineage."""
    text = (folder / "golden" / name).read_text()
    cases = dict(re.findall(r"^## (.+)\n(.+\n(?:.*(?:<-).*\n)+)", text, re.M))
    assert len(cases) == text.count("\n## ")
    return cases


def describe(event: Any, separator: str = " ") -> str:
    """The lineage of the event's output, in the lines of a golden file."""
    facets = event["outputs"][0]["facets"]
    lineage = facets.get("columnLineage", {})
    reasons = reasons_of(event)
    lines = []
    for field in (one["name"] for one in facets["schema"]["fields"]):
        sources = _sources(lineage.get("fields", {}).get(field, {}).get("inputFields", ()))
        reason = [f"! {reasons[field]}"] if field in reasons else []
        lines.append(f"{field} <- {' '.join([*filter(None, [separator.join(sources)]), *reason])}")
    rows = _sources(lineage.get("dataset", ()))
    return "\n".join([*lines, *([f"* <- {separator.join(rows)}"] if rows else [])])


def is_announced(found: str, expected: str) -> bool:
    """Whether what a release does not show is announced: each column has its sources, or a reason. A plan may have a
    condition more, as that of a sum in SQL.
    """
    lines, due = ({one.partition(" <- ")[0]: one for one in text.splitlines()} for text in (found, expected))
    has_reasons = any(" ! " in one for one in lines.values())
    differing = [name for name in {**lines, **due} if _unconditioned(lines.get(name)) != _unconditioned(due.get(name))]
    return all(has_reasons if name == "*" else " ! " in lines.get(name, "") for name in differing)


def _unconditioned(line: str | None) -> str:
    return re.sub(r",? [^ ]+:CONDITIONAL", "", line or "")


def reasons_of(event: Any) -> dict[str, str]:
    """Why something is not known, by column."""
    evidence = event["outputs"][0]["facets"]["whence_columnEvidence"]
    return {one["field"]: one["reason"] for one in (*evidence["doubts"], *evidence["unexplained"])}


def _sources(inputs: Any) -> list[str]:
    found = []
    for one in inputs:
        column = f"{Path(one['name']).stem}.{one['field']}"
        kinds = {None if two["type"] == "DIRECT" else two["subtype"] for two in one["transformations"]}
        found += [column if kind is None else f"{column}:{kind}" for kind in kinds]
    return sorted(found)
