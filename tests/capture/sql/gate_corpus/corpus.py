"""The corpus as values: the models of a project, their raw tables, and edits of them."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

_FOLDER = Path(__file__).parent


class Edit(NamedTuple):
    """One edit of one model. `old` occurs once in it; `*` replaces the whole model. `kind` is a label only."""

    kind: str
    model: str
    old: str
    new: str


@cache
def _project() -> Mapping[str, Mapping[str, str]]:
    document: Mapping[str, Mapping[str, str]] = yaml.safe_load((_FOLDER / "project.yaml").read_text("utf-8"))
    return document


def models() -> Mapping[str, str]:
    """The text of each model, with `ref` and `source`."""
    return _project()["models"]


def raw_tables() -> Mapping[str, str]:
    """The columns and types of each raw table, as SQL."""
    return _project()["raw"]


def keys() -> Mapping[str, str]:
    """The unique key of each raw table in the random databases; nothing declares it."""
    return _project()["keys"]


@cache
def edits() -> tuple[Edit, ...]:
    return tuple(Edit(**one) for one in yaml.safe_load((_FOLDER / "edits.yaml").read_text("utf-8")))


def edited(number: int) -> Mapping[str, str]:
    """The models after an edit."""
    edit, before = edits()[number], models()
    text = edit.new if edit.old == "*" else before[edit.model].replace(edit.old, edit.new)
    return {**before, edit.model: text}


def truths() -> Iterator[Mapping[str, Any]]:
    """What executing both versions showed, for each edit (`truth.py`)."""
    yield from json.loads((_FOLDER / "truth.json").read_text("utf-8"))


@cache
def columns() -> Mapping[str, tuple[str, ...]]:
    """The columns of each model before any edit, as DuckDB has them."""
    document: dict[str, list[str]] = json.loads((_FOLDER / "columns.json").read_text("utf-8"))
    return {model: tuple(names) for model, names in document.items()}
