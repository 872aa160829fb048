"""Where the data of a person is, as a report in Markdown: for the file of a request of a data subject."""

from collections.abc import Iterator

from whence.cli.answers.tree import number
from whence.client.answers.sensitivity import SubjectData
from whence.client.values.sensitivity import PlaceOfPersonalData, SensitivityLabel
from whence.govern.gate.rendering.names import code

COPIED = "identity"
"""The step of a value that is only copied."""
_HEAD = (
    "| step | dataset | columns | grade | owners | kept | last written | readers |",
    "|---:|---|---|---|---|---|---|---|",
)


def subject_report(found: SubjectData) -> str:
    """The whole answer. It has the names of datasets, columns, owners and jobs, and no value of a person."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: SubjectData) -> Iterator[str]:
    yield "# Where the data of a person is"
    yield ""
    at = f"As of {found.completeness.as_of}, graph" if found.completeness.as_of else "Graph"
    yield f"{at} {code(found.completeness.graph_version)}; grades of {found.at_least} and above."
    yield ""
    yield "It comes in here:"
    yield ""
    yield from (f"- {code(one)}" for one in found.starts) if found.starts else ("- nothing is tagged",)
    yield ""
    yield "## Datasets, in the order in which to erase"
    yield ""
    yield "What is made from a dataset is erased after it, or the next run brings the data back."
    yield ""
    yield from _HEAD
    yield from map(_row, found.places)
    yield ""
    yield "## How it came there"
    yield ""
    for place in found.places:
        for one in place.labels:
            assumed = f", assumed; proven: {one.proven}" if one.assumed else ""
            yield f"- {code(one.node)}: {one.category}, {one.grade}{assumed}: {' → '.join(map(code, one.path))}"
            yield from (f"  - {step}" for step in _steps(one))
    yield ""
    yield "## What is not known"
    yield ""
    yield from (f"- {one}" for one in _unknown(found))


def _row(one: PlaceOfPersonalData) -> str:
    columns = ", ".join(map(code, one.columns)) or "the whole dataset"
    owners = ", ".join(map(code, one.owners)) or "nobody"
    kept = "not set" if one.retention is None else code(one.retention)
    if one.must_keep_days is not None:
        kept += f" (its sources: {number(one.must_keep_days, 'day')})"
    readers = [*map(code, one.readers), *([f"{one.hidden_readers:,} hidden"] if one.hidden_readers else [])]
    cells = (columns, one.grade, owners, kept, one.last_written or "not known", ", ".join(readers) or "nobody")
    return f"| {one.step} | {code(one.dataset)} | {' | '.join(cells)} |"


def _steps(one: SensitivityLabel) -> Iterator[str]:
    """How the value is transformed, step by step; a copy needs no line."""
    for target, text in zip(one.path[1:], one.steps, strict=False):
        if text != COPIED:
            yield f"{code(target)} is made by {code(text)}"


def _unknown(found: SubjectData) -> Iterator[str]:
    known = found.completeness
    if known.complete and not known.hidden_nodes and not found.gaps and not found.more_starts:
        yield "Nothing was left out of what was reported. What no run reports is not in this report."
    if known.stopped_by == "nodes":
        yield "The search was stopped by `--max-nodes` or the number of tagged datasets: there may be more."
    if found.more_starts:
        yield f"{number(found.more_starts, 'more tagged dataset')} did not count."
    if known.hidden_nodes:
        yield f"{number(known.hidden_nodes, 'node')} that the asker may not see."
    for gap in found.gaps:
        yield f"{code(gap)} reports no columns for all it writes: data may pass there unseen."
