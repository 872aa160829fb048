"""The tables of a data source as a FROM clause: tables, joins, unions, custom SQL, and the newer relationships."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from whence.capture.bi.connections import Connection
from whence.capture.bi.tableau.databases import Database
from whence.capture.sql import Table
from whence.errors import ArtifactError
from whence.model.names import DatasetName

_PART = re.compile(r"\[((?:[^\]]|\]\])*)\]")
_PARAMETER = re.compile(r"<\[Parameters\]\.\[(?:[^\]]|\]\])*\]>")


@dataclass(slots=True)
class Relations:
    """Makes the FROM clause of one data source. `databases` are by the name that relations use.

    `own` collects the datasets of the names that stand for a file, or for a table of one of several databases.
    """

    databases: Mapping[str, Database]
    connection: Connection
    own: dict[Table, DatasetName | None]

    def clause(self, element: Element) -> str:
        """A `relation` as a part of a FROM clause. Raises ArtifactError for a kind that is not known."""
        match element.get("type"):
            case "table" | None:
                return f"{self._table(element)} {self.quote(_name(element))}"
            case "text":
                return f"({_custom_sql(element)}\n) {self.quote(_name(element))}"
            case "join":
                return self._join(element)
            case "union":
                return f"({self._union(element)}) {self.quote(_name(element))}"
        raise ArtifactError("", f"a relation of the type {element.get('type')} is not read")

    def quote(self, name: str) -> str:
        """A name, quoted as the dialect does it."""
        return self.connection.quote(name)

    def column(self, reference: str) -> str:
        """`[table].[column]` as SQL."""
        return ".".join(self.quote(part) for part in split_name(reference))

    def _join(self, element: Element) -> str:
        sides = _relations(element)
        if len(sides) != 2:
            raise ArtifactError("", "a join has not two sides")
        expression = element.find("clause/expression")
        condition = self.condition(expression, self.column) if expression is not None else "1 = 1"
        kind = str(element.get("join") or "inner").upper()
        return f"{self.clause(sides[0])} {kind} JOIN {self.clause(sides[1])} ON {condition}"

    def condition(self, expression: Element, column: Callable[[str], str]) -> str:
        """An `expression` tree, whose leaves are columns, as SQL."""
        parts = [self.condition(one, column) for one in expression.findall("expression")]
        operator = expression.get("op", "")
        if not parts:
            return column(operator) if operator.startswith("[") else "NULL"
        is_sign = not operator[:1].isalpha() or operator.upper() in ("AND", "OR")
        return f"({f' {operator} '.join(parts)})" if is_sign else f"T_{operator}({', '.join(parts)})"

    def _union(self, element: Element) -> str:
        parts = [f"SELECT * FROM {self.clause(one)}" for one in _relations(element)]
        if not parts:
            raise ArtifactError("", "a union has no tables, or finds them by a pattern")
        return " UNION ALL ".join(parts)

    def _table(self, element: Element) -> str:
        parts = split_name(element.get("table") or f"[{_name(element)}]")
        database = self._database(element)
        if database.file is None and database.connection is self.connection:
            return ".".join(map(self.quote, parts))
        stand_in = f"table_{len(self.own) + 1}"
        named = database.file or (database.connection and database.connection.naming.dataset(Table(parts)))
        self.own[Table((stand_in,))] = named or None
        return self.quote(stand_in)

    def _database(self, element: Element) -> Database:
        name = element.get("connection", "")
        if name in self.databases:
            return self.databases[name]
        if len(self.databases) == 1:
            return next(iter(self.databases.values()))
        raise ArtifactError("", f"the relation {_name(element)} is of the connection {name}, which is not in the file")


def split_name(name: str) -> tuple[str, ...]:
    """The parts of `[schema].[table]`.

    >>> split_name("[a]]b].[c]")
    ('a]b', 'c')
    """
    return tuple(part.replace("]]", "]") for part in _PART.findall(name)) or (name,)


def _custom_sql(element: Element) -> str:
    """Custom SQL as the database gets it: `<` and `>` are doubled in the file, `<[Parameters].[x]>` is a value."""
    return _PARAMETER.sub("NULL", element.text or "").replace("<<", "<").replace(">>", ">").strip().rstrip(";")


def _name(element: Element) -> str:
    return element.get("name") or (split_name(element.get("table") or "") or ("relation",))[-1]


def _relations(element: Element) -> list[Element]:
    return element.findall("relation")
