"""Golden grades of a result of SQL, against what the reader, the edges and the labels make of it together."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from whence.capture.sql import Catalog, Column, Edge, read_script
from whence.model.names import DatasetName, FieldName, Node
from whence.model.sensitivity import Grade
from whence.query.answers.transformations import Transformation
from whence.query.sensitivity.disclosures import Way, way_between
from whence.query.sensitivity.labels import labels_of, widths_of
from whence.query.sensitivity.marks import Mark

FILE = Path(__file__).parent / "standard_functions.txt"
_COLUMNS = {
    "people": ("email", "phone", "first_name", "last_name", "city", "age", "born", "salary", "vip"),
    "towns": ("city", "region"),
}


@dataclass(frozen=True, slots=True)
class Golden:
    """A result, a column of `people`, and how much of the column the result shows. `assumed`: not all for certain."""

    select: str
    column: str
    grade: Grade
    is_assumed: bool

    @property
    def sql(self) -> str:
        """The query; its result is the column `out`."""
        select = self.select if " FROM people" in self.select else f"{self.select} AS out FROM people"
        return f"CREATE TABLE made AS SELECT {select}"


def read_golden() -> Iterator[Golden]:
    """The lines of the file."""
    for line in FILE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            select, column, shown = (part.strip() for part in line.rsplit("|", 2))
            grade, _, assumed = shown.partition(", ")
            yield Golden(select, column, Grade[grade.upper()], bool(assumed))


def grade_of(one: Golden) -> tuple[Grade, bool]:
    """How much of the column the result shows by its label, and whether part of that is assumed."""
    (statement,) = read_script(one.sql, "spark", Catalog.from_columns(_COLUMNS, "spark")).statements
    start, result = _field("people", one.column), _field("made", "out")
    ways = [way_between(*_ends(edge), [_transformation(edge)]) for edge in statement.edges]
    ways.append(Way(result.dataset, result, Grade.FULL, Grade.FULL))
    marked: dict[Node, frozenset[Mark]] = {start: frozenset({Mark("pii", of_dataset=False)})}
    for label in labels_of(widths_of(ways), marked):
        if label.node == result:
            return label.grade, label.is_assumed
    return Grade.NONE, False


def _field(table: str, column: str) -> FieldName:
    return FieldName(DatasetName("db", table), column)


def _ends(edge: Edge) -> tuple[Node, Node]:
    source, target = (
        _field(str(end.table), end.name) if isinstance(end, Column) else DatasetName("db", str(end))
        for end in (edge.source, edge.target)
    )
    return source, target


def _transformation(edge: Edge) -> Transformation:
    return Transformation(type=edge.type, subtype=edge.subtype, masking=edge.masking, description=edge.expression)
