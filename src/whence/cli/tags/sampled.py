"""`whence tags sample`: columns that are sensitive by their values, and their tags. Values stay on this machine, and
are not printed.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.output.labels import name_of
from whence.cli.output.streams import Rows, print_csv, print_document, print_lines, safe
from whence.cli.tags.knowledge import connected, read_known_dataset
from whence.client.acts.tags import add_tags
from whence.client.connection import Connection
from whence.client.questions import Client
from whence.csv_text import csv_text
from whence.errors import ArtifactError, QuestionError
from whence.govern.tags.sampled_tags import DecidedColumn, SampledTag, plan_sampled_tags
from whence.govern.tags.value_kinds import FoundKind, find_kind, is_sensitive
from whence.model.names import DatasetName

_COLUMNS = ("column", "category", "kind", "share", "values", "sent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A file with rows of a dataset. `most`: the rows that are read; `uses_presidio`: as well, for what has no kind."""

    file: Path
    dataset: str
    most: int
    uses_presidio: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """What was done about the findings."""

    tags: Sequence[SampledTag] = ()
    decided: Sequence[DecidedColumn] = ()
    is_sent: bool = False


def show_sample(sample: Sample, output: Rows) -> None:
    """Print what the columns of a file of comma-separated values are. Raises ArtifactError, WhenceError without
    Presidio.
    """
    _print(sample, _find(sample), _Sent(), output)


def send_sample(sample: Sample, url: str, output: Rows) -> None:
    """The same, and tag the columns of the dataset on a server. Nothing but categories and kinds is sent.

    Raises as `show_sample`, and ApiError, AccessError, NodeNotFoundError, AmbiguousNodeError, QuestionError.
    """
    found = _find(sample)
    with connected(url) as connection:
        known = read_known_dataset(connection, _resolve(connection, sample.dataset))
        tags, decided = plan_sampled_tags(found, known)
        for one in tags:
            add_tags(connection, str(one.column), [f"{one.key}={one.value}"])
    _print(sample, found, _Sent(tags=tags, decided=decided, is_sent=True), output)


def _resolve(connection: Connection, dataset: str) -> DatasetName:
    name = name_of(Client(connection).upstream(dataset, depth=1, max_nodes=1).root)
    if not isinstance(name, DatasetName):
        raise QuestionError("dataset", f"{dataset!r} is not a dataset")
    return name


def _find(sample: Sample) -> list[FoundKind]:
    columns = _read_columns(sample.file, sample.most)
    if any(map(is_sensitive, columns)):
        raise ArtifactError(sample.file.as_posix(), "its first line has values: put the names of the columns there")
    found = {name: find_kind(name, values) for name, values in columns.items()}
    if sample.uses_presidio:
        from whence.govern.tags.presidio_kinds import open_finder

        find = open_finder()
        found = {name: one or find(name, columns[name]) for name, one in found.items()}
    return [one for one in found.values() if one is not None]


def _read_columns(file: Path, most: int) -> Mapping[str, Sequence[str]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            sample = lines.read(64_000)
            lines.seek(0)
            reader = csv.reader(lines, csv.Sniffer().sniff(sample, ",;\t|") if sample else csv.excel)
            names = next(reader, [])
            rows = [row for row in islice(reader, most) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ArtifactError(file.as_posix(), f"it cannot be read as comma-separated values: {error}") from None
    return {name: [row[at] for row in rows if at < len(row)] for at, name in enumerate(names)}


def _print(sample: Sample, found: Sequence[FoundKind], sent: _Sent, output: Rows) -> None:
    tagged = {(one.column.field.casefold(), one.key) for one in sent.tags}
    rows = [_document(one, is_sent=(one.column.casefold(), one.category) in tagged) for one in found]
    match output:
        case Rows.JSON:
            left_out = [{"column": one.column, "reason": one.reason} for one in sent.decided]
            print_document({"dataset": sample.dataset, "columns": rows, "left_out": left_out})
        case Rows.CSV:
            print_csv(csv_text(_COLUMNS, rows))
        case Rows.TEXT:
            _print_text(sample.dataset, found, sent)


def _document(one: FoundKind, *, is_sent: bool) -> dict[str, Any]:
    return {
        "column": one.column,
        "category": one.category,
        "kind": one.kind,
        "share": round(one.share, 3),
        "values": one.values,
        "sent": is_sent,
    }


def _print_text(dataset: str, found: Sequence[FoundKind], sent: _Sent) -> None:
    for one in found:
        share = f"{one.kind} in {one.share:.0%} of {one.values:,} values"
        print_lines([Text(f"{one.category:9}  {safe(dataset)}.{safe(one.column)}  {share}")])
    for tag in sent.tags:
        print_lines([Text(f"tagged     {safe(dataset)}.{safe(tag.column.field)}  {tag.key}={tag.value}")])
    for left in sent.decided:
        print_lines([Text(f"left out   {safe(dataset)}.{safe(left.column)}  it {safe(left.reason)}")])
    print_lines([Text(f"{_last_line(found, sent)}; no value left this machine")])


def _last_line(found: Sequence[FoundKind], sent: _Sent) -> str:
    if not found:
        return "no column has values of a known form"
    if sent.is_sent:
        return f"{len(sent.tags)} of {len(found)} columns tagged"
    return "tag these: the same with --send"
