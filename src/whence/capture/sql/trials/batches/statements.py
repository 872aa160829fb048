"""One statement over many databases at once: tables hold the rows of all, and a LATERAL query reads those of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from whence.capture.sql.lineage import Table
from whence.capture.sql.trials.generation.tables import InputTable
from whence.capture.sql.trials.plans import Plan, Step
from whence.model.names import DatasetName

NUMBERS: Final = "whence_numbers"
"""The table of the numbers of databases."""
NUMBER: Final = "whence_number"
"""The column that says of which database a row is."""
_EACH: Final = "whence_each"
_PLAIN: Final = frozenset({"this", "db", "catalog", "alias"})

Names = Mapping[tuple[str, ...], str]
"""What the tables are called that hold the rows of many databases, by the parts of a table's name in lower case."""


@dataclass(frozen=True, slots=True)
class ManySql:
    """A version over the databases from `$low` to `$high`. `makes`: the queries of the tables that are made first,
    by their names; `outputs`: the queries for the number of a database and a row.
    """

    makes: Mapping[str, str]
    outputs: Mapping[DatasetName, str]


def batch_names(tables: Sequence[InputTable]) -> Names:
    """Names for the rows of the tables that are read."""
    return {_lower(table.parts): f"whence_input_{place}" for place, table in enumerate(tables)}


def over_many(plan: Plan, inputs: Names) -> ManySql | None:
    """A version over many databases; None if it does anything but to make tables of queries."""
    names, makes = dict(inputs), dict[str, str]()
    for place, step in enumerate(plan.steps):
        table, query = _table_of(step), _query_of(step)
        found = _over_many(query, names) if query is not None else None
        if table is None or found is None:
            return None
        if len(plan.steps) == len(plan.outputs) == 1:
            return ManySql({}, dict.fromkeys(plan.outputs, found))
        makes[f"whence_made_{place}"] = found
        names[_lower(table.parts)] = f"whence_made_{place}"
    found_in = {name: names.get(_lower(table.parts)) for name, table in plan.outputs.items()}
    if not all(found_in.values()):
        return None
    return ManySql(makes, {name: f"FROM {made}" for name, made in found_in.items()})


def _table_of(step: Step) -> Table | None:
    if step.table is not None:
        return step.table
    return next(iter(step.writes)) if len(step.writes) == 1 else None


def _query_of(step: Step) -> exp.Query | None:
    """The query of a model, or of a script that makes one table or view."""
    if len(step.statements) != 1:
        return None
    (statement,) = step.statements
    if isinstance(statement, exp.Create) and isinstance(statement.this, exp.Table):
        statement = statement.expression
    return statement if isinstance(statement, exp.Query) else None


def _over_many(query: exp.Query, names: Names) -> str | None:
    copy = query.copy()
    shared = {one.alias.lower() for one in copy.find_all(exp.CTE)}
    for column in copy.find_all(exp.Column):
        if column.args.get("db") is not None:  # a table in brackets has no schema
            column.set("db", None)
            column.set("catalog", None)
    for node, parts in list(_tables(copy)):
        if parts not in names:
            continue
        if parts[-1] in shared or any(value for name, value in node.args.items() if name not in _PLAIN):
            return None
        node.replace(_rows_of_one(node, names[parts]))
    return (
        f"SELECT {_EACH}.{NUMBER}, whence_rows.* FROM {NUMBERS} AS {_EACH}, "
        f"LATERAL ({copy.sql('duckdb')}) AS whence_rows WHERE {_EACH}.{NUMBER} BETWEEN $low AND $high"
    )


def _tables(query: exp.Query) -> Iterator[tuple[exp.Table, tuple[str, ...]]]:
    for node in query.find_all(exp.Table):
        if isinstance(node.this, exp.Identifier):
            yield node, _lower([one.name for one in node.parts])


def _rows_of_one(node: exp.Table, name: str) -> exp.Expr:
    """The rows of a table that are of one database."""
    number = exp.column(NUMBER, table=name)
    rows = exp.select(exp.Star(except_=[exp.column(NUMBER)])).from_(name)
    rows = rows.where(exp.Between(this=number, low=exp.Placeholder(this="low"), high=exp.Placeholder(this="high")))
    is_of_it = exp.EQ(this=number.copy(), expression=exp.column(NUMBER, table=_EACH))
    alias = node.args.get("alias") or exp.TableAlias(this=node.this)
    return exp.Subquery(this=rows.where(is_of_it), alias=alias.copy())


def _lower(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)
