"""The verdicts on the corpus of reviews: projects of Postgres, Snowflake and BigQuery, compiled from Jinja."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from capture.sql.fingerprint.verdicts import EVERY_EDIT, Compare, Place, Verdict
from capture.sql.gate_corpus.query_edits import Edit, Truth, truths
from capture.sql.gate_corpus.reviews import RAW, Model, compiled, dialect_of, review_edits
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.fingerprint.projects.evaluation import Readings
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.model.changes import ColumnChange
from whence.model.names import DatasetName


def review_verdicts(compare: Compare = compare_projects, part: slice = EVERY_EDIT) -> Iterator[Verdict]:
    """The verdicts on edits. No key is declared; the types of the sources are."""
    readings, known = Readings(), truths("reviews")
    for edit in review_edits()[part]:
        places = [_place(one) for one in known[edit.statement].columns]
        before, after = (_project(dialect_of(edit), text, places) for text in (edit.before, edit.after))
        changes = compare(before, after, readings)
        notable = tuple(
            replace(change, column=change.column and change.column.lower(), dataset=_in_lower_case(change.dataset))
            for change in changes
            if not change.kind.is_harmless
        )
        yield _verdict(edit, known[edit.name], known[edit.statement], notable)


def _project(dialect: str, text: str, places: Sequence[Place]) -> ProjectCode:
    """A version of a project, with what a catalog of its warehouse has: sources, and tables that runs add to."""
    models = tuple(compiled(text))
    types = {
        table: {_as_in_catalog(name, dialect): kind for name, kind in kinds.items()}
        for table, kinds in RAW[dialect].items()
    }
    own = {
        model.name: tuple(name for table, name in places if table == model.name)
        for model in models
        if model.kind == "incremental"
    }
    columns = {**{table: tuple(kinds) for table, kinds in types.items()}, **own}
    codes = tuple(_code(model, dialect) for model in models)
    return ProjectCode(dialect=dialect, namespace=dialect, codes=codes, columns=columns, types=types)


def _as_in_catalog(name: str, dialect: str) -> str:
    """A column's name in SQL, quoted if it must be."""
    if dialect == "snowflake":
        return name.upper()
    return name if dialect == "bigquery" or re.fullmatch("[a-z_]+", name) else f'"{name}"'


def _in_lower_case(of: DatasetName) -> DatasetName:
    return DatasetName(of.namespace, of.name.lower())


def _code(model: Model, dialect: str) -> Code:
    return Code(
        file=f"models/{model.name}.sql",
        sql=model.sql,
        content=model.sql,
        builds=DatasetName(dialect, model.name),
        table=model.name,
        parents=model.parents,
        materialized=model.kind,
    )


def _verdict(edit: Edit, truth: Truth, project: Truth, changes: tuple[ColumnChange, ...]) -> Verdict:
    places = [_place(one) for one in truth.changed()]
    columns: dict[str, list[str]] = {}
    for model, name in map(_place, project.columns):
        columns.setdefault(model, []).append(name)
    return Verdict(
        title=edit.name,
        is_harmless=truth.is_harmless,
        is_broken=bool(truth.broken),
        changed=frozenset((model, name) for model, name in places if name),
        unplaced=frozenset(model for model, name in places if not name),
        columns=columns,
        changes=changes,
    )


def _place(text: str) -> Place:
    model, _, name = text.partition(".")
    return model, name
