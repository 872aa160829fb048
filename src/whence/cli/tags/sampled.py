"""`whence tags sample`: columns that are sensitive by their values. These stay on this machine, and are not printed."""

import csv
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.output.streams import Rows, print_csv, print_document, print_lines, safe
from whence.csv_text import csv_text
from whence.errors import ArtifactError
from whence.govern.tags.value_kinds import FoundKind, find_kind

_COLUMNS = ("column", "category", "kind", "share", "values")


def show_sample(file: Path, dataset: str, most: int, output: Rows) -> None:
    """Print what the columns of a file of comma-separated values are. `most`: the rows that are read.

    Raises ArtifactError.
    """
    kinds = (find_kind(name, values) for name, values in _read_columns(file, most).items())
    found = [one for one in kinds if one is not None]
    match output:
        case Rows.JSON:
            print_document({"dataset": dataset, "columns": list(map(_document, found))})
        case Rows.CSV:
            print_csv(csv_text(_COLUMNS, map(_document, found)))
        case Rows.TEXT:
            _print_text(dataset, found)


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


def _document(one: FoundKind) -> dict[str, Any]:
    return {
        "column": one.column,
        "category": one.category,
        "kind": one.kind,
        "share": round(one.share, 3),
        "values": one.values,
    }


def _print_text(dataset: str, found: Sequence[FoundKind]) -> None:
    for one in found:
        share = f"{one.kind} in {one.share:.0%} of {one.values:,} values"
        print_lines([Text(f"{one.category:9}  {safe(dataset)}.{safe(one.column)}  {share}")])
    last = "tag one: whence tags add COLUMN CATEGORY" if found else "no column has values of a known form"
    print_lines([Text(f"{last}; no value left this machine")])
