"""Reading exports of tags: rows as CSV or JSON, and JSON documents."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from whence.errors import ArtifactError
from whence.govern.tags.places import Place, TagAt, drop_inherited, is_printable
from whence.govern.tags.plan import TagForm, TagPlan

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TagExport:
    """The tags of a warehouse, in order, and all tables and columns that its export names."""

    tags: tuple[TagAt, ...] = ()
    places: frozenset[Place] = frozenset()


class TagSystem(Protocol):
    """A system with tags: how its exports are read, and how a plan for it is written."""

    @property
    def form(self) -> TagForm:
        """What its tags look like."""
        ...

    def read(self, text: str, name: str) -> TagExport:
        """The tags in an export, the file `name`. Raises ArtifactError."""
        ...

    def write(self, plan: TagPlan, export: str) -> str:
        """The file that applies a plan; `export` is the text that it was made from, empty if there was none."""
        ...


def export_of(tags: Iterable[TagAt], places: Iterable[Place] = ()) -> TagExport:
    """An export with these tags, and with places that have none."""
    kept = drop_inherited(tags)
    return TagExport(kept, frozenset(one.place for one in kept) | frozenset(places))


def read_rows(text: str, name: str, required: Iterable[str]) -> list[Row]:
    """The rows of CSV with a header, of a JSON array, or of JSON lines, with upper-case keys; what is null is empty.

    Raises ArtifactError, also if a row lacks a required key.
    """
    stripped = text.lstrip("\ufeff \t\r\n")
    rows = _json_rows(stripped, name) if stripped.startswith(("[", "{")) else _csv_rows(stripped, name)
    for number, row in enumerate(rows, 1):
        if missing := [one for one in required if one not in row]:
            raise ArtifactError(name, f"row {number} has no {', '.join(missing)}: export these columns, too")
    return rows


def read_json(text: str, name: str) -> Any:
    """A JSON document, or JSON lines as a list. Raises ArtifactError."""
    try:
        return json.loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines] if len(lines) > 1 else _refuse(name, error)
        except ValueError:
            _refuse(name, error)
    except RecursionError:
        raise ArtifactError(name, "is nested too deeply") from None


def split_three(name: str, parts: str) -> tuple[str, ...] | str:
    """The three parts of a dataset's name, or why it has none. `parts`: their names."""
    found = tuple(name.split("."))
    if len(found) != 3 or not all(found):
        return f"its name has not the three parts {parts}"
    return found if is_printable(name) else "its name has control characters"


def _refuse(name: str, error: ValueError) -> Any:
    raise ArtifactError(name, f"is not JSON: {error}") from None


def _json_rows(text: str, name: str) -> list[Row]:
    found = read_json(text, name)
    rows = found if isinstance(found, list) else [found]
    if not all(isinstance(row, dict) for row in rows):
        raise ArtifactError(name, "has rows that are no objects: export one object for each tag")
    return [{str(key).upper(): "" if value is None else str(value) for key, value in row.items()} for row in rows]


def _csv_rows(text: str, name: str) -> list[Row]:
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows: list[Row] = [{key.upper(): value or "" for key, value in row.items() if key} for row in reader]
    except csv.Error as error:
        raise ArtifactError(name, f"is neither JSON nor CSV: {error}") from None
    if text and not reader.fieldnames:
        raise ArtifactError(name, "is neither JSON nor CSV with a header")
    return rows
