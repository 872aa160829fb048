"""The tables that both versions read: their columns, keys, and the values that matter to the queries."""

import re
from collections.abc import Iterator, Mapping, Sequence

from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.fingerprint.projects.code import ProjectCode, UniqueKey
from whence.capture.sql.fingerprint.projects.reading_order import table_of
from whence.capture.sql.lineage import Table
from whence.capture.sql.names.names import parse_column_name
from whence.capture.sql.trials.execution import Laboratory
from whence.capture.sql.trials.faithfulness import NotTriedError
from whence.capture.sql.trials.generation.moves import family_of, moves_of, stated_moves
from whence.capture.sql.trials.generation.tables import NULL, InputColumn, InputTable, Key, Pool, Relation
from whence.capture.sql.trials.generation.uses import Uses
from whence.capture.sql.trials.generation.values import Hints, Shape, duckdb_type, shape_of, values_of
from whence.capture.sql.trials.plans import Plan, defaults_of, find_table, known_types

_PADDED = re.compile(r"bpchar|n?char(?:acter)?\s*(?:\(|$)", re.IGNORECASE)
"""Types of texts that are compared without the spaces at their end."""
_MOST_CONDITIONS = 40
_MOST_VALUES = 60


def input_shapes(project: ProjectCode, plans: tuple[Plan, Plan]) -> Mapping[Table, Mapping[str, Shape]]:
    """The columns of the tables that are read, with their types. Raises NotTriedError."""
    known, dialect, defaults = known_types(project), dialect_of(project.dialect), defaults_of(project)
    found: dict[Table, Mapping[str, Shape]] = {}
    meant: dict[Table, Table] = {}
    for table in sorted(plans[0].inputs | plans[1].inputs, key=str):
        declared = find_table(table, known, defaults)
        if declared is None:
            raise NotTriedError(f"the types of the columns of {table} are not known")
        if meant.setdefault(declared, table) != table:
            raise NotTriedError(f"it calls {declared} by two names")
        found[table] = {
            parse_column_name(dialect, name): _shape(table, name, kind, dialect.parser)
            for name, kind in known[declared].items()
        }
    return found


def _shape(table: Table, name: str, given: str, parser: str) -> Shape:
    type_ = duckdb_type(given, parser)
    shape = shape_of(type_)
    if shape is None or (parser != "duckdb" and _PADDED.match(given)):
        raise NotTriedError(f"no values are made for {table}.{name} of the type {type_}")
    return shape


def input_table(table: Table, shapes: Mapping[str, Shape], project: ProjectCode, uses: Uses) -> InputTable:
    columns = tuple(
        InputColumn(
            name, shape, _pool_name(name, shape, uses), uses.names_column(name), tuple(_relations(name, shape, uses))
        )
        for name, shape in shapes.items()
    )
    return InputTable(table.parts, columns, tuple(_keys(table, list(shapes), project)))


def _relations(name: str, shape: Shape, uses: Uses) -> Iterator[Relation]:
    for names, hints in uses.relations.items():
        if name.lower() in names and family_of(shape):
            yield Relation(names, stated_moves(shape, hints))


def _pool_name(name: str, shape: Shape, uses: Uses) -> str:
    return f"{uses.group_of(name.lower())}: {shape.type.lower()}"


def _keys(table: Table, names: list[str], project: ProjectCode) -> Iterator[Key]:
    by_table = {table_of(name, project.dialect): keys for name, keys in project.keys.items()}
    declared = find_table(table, by_table, defaults_of(project))
    places = {name.lower(): place for place, name in enumerate(names)}
    for key in by_table[declared] if declared is not None else ():
        if all(name.lower() in places for name in key.columns):
            yield _key(key, places)


def _key(key: UniqueKey, places: Mapping[str, int]) -> Key:
    return Key(tuple(places[name.lower()] for name in key.columns), key.is_complete)


def make_pools(tables: Sequence[InputTable], uses: Uses, laboratory: Laboratory) -> Iterator[tuple[str, Pool]]:
    columns: dict[str, list[InputColumn]] = {}
    for table in tables:
        for column in table.columns:
            columns.setdefault(column.pool, []).append(column)
    for name, of in columns.items():
        shape, names = of[0].shape, sorted({column.name.lower() for column in of})
        linked = [one for one in uses.hints if uses.group_of(one) == uses.group_of(names[0])]
        yield name, _pool(shape, uses.hints_of([*names, *linked]), names, uses, laboratory)


def _pool(shape: Shape, hints: Hints, names: Sequence[str], uses: Uses, laboratory: Laboratory) -> Pool:
    values = [*laboratory.are_of(shape, values_of(shape, hints)[:_MOST_VALUES]), NULL]
    if len(values) == 1:
        raise NotTriedError(f"no value of the type {shape.type} is known")
    listed = [(name, *one) for name in names for one in uses.conditions.get(name, {}).items()][:_MOST_CONDITIONS]
    if shape.kind == "text":
        listed += [(name, text, True) for name in names for text in uses.conversions.get(name, ())]
    found: dict[bool, dict[tuple[bool | None, ...], None]] = {True: {}, False: {}}
    for name, text, is_required in listed:
        holds = laboratory.holds(shape, values, name, text)
        if holds is not None and len(set(holds)) > 1:
            found[is_required][holds] = None
    return Pool(
        tuple(values),
        tuple(found[True]),
        tuple(found[False]),
        not uses.grouping.isdisjoint(names),
        moves_of(shape, hints),
    )
