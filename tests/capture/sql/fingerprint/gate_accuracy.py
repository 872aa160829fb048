"""Score the fingerprint on the corpus of edits: `make accuracy-gate`. Ends with 1 if a figure is below its floor.

The corpus (`tests/capture/sql/gate_corpus/README.md`) was written by an author who had not seen the fingerprint; its
truth comes from executing both versions of the whole project. A column counts if its values differ in any database, in
the whole project.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from capture.sql.gate_corpus import corpus
from whence.capture.sql.fingerprint.code import Code, ProjectCode, UniqueKey
from whence.capture.sql.fingerprint.evaluation import Readings
from whence.capture.sql.fingerprint.projects import compare_projects
from whence.model.changes import ChangeKind, ColumnChange
from whence.model.names import DatasetName

FLOORS = {"harmful found": 1.0, "harmless silent": 0.97, "known": 1.0, "exact columns": 0.85, "no column missed": 1.0}
"""What a change of the reader may not fall below, if the project declares its keys."""
FLOORS_WITHOUT_KEYS = {**FLOORS, "harmless silent": 0.96, "exact columns": 0.84}
Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One edit: what execution says, and what the fingerprint says."""

    number: int
    truth: Mapping[str, Any]
    changes: tuple[ColumnChange, ...]

    @property
    def is_harmless(self) -> bool:
        return bool(self.truth["harmless"])

    @property
    def is_silent(self) -> bool:
        return not self.changes

    @property
    def is_unknown(self) -> bool:
        return any(change.kind is ChangeKind.UNKNOWN for change in self.changes)

    def claimed(self) -> set[Place]:
        """The columns that the fingerprint names, except of models where execution shows no single column."""
        places = {place for change in self.changes for place in _places(change.dataset.name, change.column)}
        return {place for place in places if place[0] not in self.unplaced()}

    def changed(self) -> set[Place]:
        return {(model, name) for kind in ("removed", "type", "values") for model, name in self.truth[kind]}

    def unplaced(self) -> set[str]:
        """Models whose rows differ although each column has the same values: execution names no column."""
        return set(self.truth["rows"]) - {model for model, _ in self.changed()}

    def misses(self) -> bool:
        models = {change.dataset.name for change in self.changes}
        return not self.claimed() >= self.changed() or not models >= self.unplaced()

    def is_exact(self) -> bool:
        return not self.misses() and self.claimed() == self.changed()


def _places(model: str, column: str | None) -> set[Place]:
    return {(model, column)} if column is not None else {(model, name) for name in corpus.columns()[model]}


def render(text: str) -> str:
    text = re.sub(r"\{\{ *source\('raw', *'(\w+)'\) *\}\}", r"raw.\1", text)
    return re.sub(r"\{\{ *ref\('(\w+)'\) *\}\}", r"\1", text).strip().rstrip(";")


def declared_keys() -> Mapping[str, tuple[UniqueKey, ...]]:
    """The keys that the random databases have, as dbt's tests `unique` and `not_null` would declare them."""
    found = {table: tuple(one.strip() for one in text.split(",")) for table, text in corpus.keys().items()}
    return {f"raw.{table}": (UniqueKey(columns=columns, is_complete=True),) for table, columns in found.items()}


def project_of(models: Mapping[str, str], keys: Mapping[str, tuple[UniqueKey, ...]] | None = None) -> ProjectCode:
    """The corpus's project as code, as an adapter for dbt gives it."""
    codes = [
        Code(
            file=f"models/{name}.sql",
            sql=render(text),
            content=render(text),
            builds=DatasetName("duckdb", name),
            table=name,
            parents=tuple(_parents(text)),
        )
        for name, text in models.items()
    ]
    columns = {
        f"raw.{table}": tuple(one.strip().split(" ", 1)[0] for one in re.split(r",(?![^(]*\))", text))
        for table, text in corpus.raw_tables().items()
    }
    return ProjectCode(dialect="duckdb", namespace="duckdb", codes=tuple(codes), columns=columns, keys=keys or {})


def _parents(text: str) -> Iterator[str]:
    yield from re.findall(r"ref\('(\w+)'\)", text)
    yield from (f"raw.{name}" for name in re.findall(r"source\('raw', *'(\w+)'\)", text))


def verdicts(keys: Mapping[str, tuple[UniqueKey, ...]] | None = None) -> Iterator[Verdict]:
    base, readings = project_of(corpus.models(), keys), Readings()
    for truth in corpus.truths():
        number = truth["number"]
        changes = compare_projects(base, project_of(corpus.edited(number), keys), readings)
        yield Verdict(number, truth, tuple(change for change in changes if not change.kind.is_harmless))


def figures(scored: list[Verdict]) -> Mapping[str, tuple[int, int]]:
    """The figures, each as (right, all)."""
    harmless = [one for one in scored if one.is_harmless]
    harmful = [one for one in scored if not one.is_harmless]
    built = [one for one in harmful if not one.truth["broken"]]
    return {
        "harmful found": (sum(not one.is_silent for one in harmful), len(harmful)),
        "harmless silent": (sum(one.is_silent for one in harmless), len(harmless)),
        "known": (sum(not one.is_unknown for one in scored), len(scored)),
        "exact columns": (sum(one.is_exact() for one in built), len(built)),
        "no column missed": (sum(not one.misses() for one in built), len(built)),
    }


def main() -> None:
    is_low = print_scores("keys declared by tests", list(verdicts(declared_keys())), FLOORS)
    is_low = print_scores("no key declared", list(verdicts()), FLOORS_WITHOUT_KEYS) or is_low
    sys.exit(is_low)


def print_scores(title: str, scored: list[Verdict], floors: Mapping[str, float]) -> bool:
    """Print the figures, and whether one is below its floor."""
    sys.stdout.write(f"== {title}\n")
    for one in scored:
        edit = corpus.edits()[one.number]
        title = f"{one.number} {edit.kind}, {edit.model}"
        if one.is_harmless != one.is_silent or one.is_unknown:
            sys.stdout.write(f"{title}: {one.changes[:1]}\n")
        elif "-v" in sys.argv and not one.truth["broken"] and not one.is_exact():
            lost, gained = sorted(one.changed() - one.claimed()), sorted(one.claimed() - one.changed())
            sys.stdout.write(f"{title}: missed {lost}, too many {gained}\n")
    failed = False
    for name, (right, whole) in figures(scored).items():
        is_low = right < floors[name] * whole
        failed = failed or is_low
        sys.stdout.write(f"{name:17} {right} of {whole} ({right / whole:.1%}){' BELOW ITS FLOOR' if is_low else ''}\n")
    return failed


if __name__ == "__main__":
    main()
