"""The order in which the files of a project are read: each after those that write what it reads."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from whence.capture.sql.dialects.dialects import dialect_of
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode
from whence.capture.sql.lineage import Table
from whence.capture.sql.names.catalog import Catalog
from whence.capture.sql.names.names import parse_name_parts
from whence.capture.sql.scripts.script import read_script

_WORD = re.compile(r"\w+")


def in_order(project: ProjectCode) -> Sequence[tuple[Code, frozenset[Table]]]:
    """The files, each after those that write what it reads, with the tables that its declared parents or its text name;
    of a circle, in the given order.
    """
    if len(project.codes) == 1 and project.codes[0].parents is None:
        return [(project.codes[0], _named_tables(project, project.codes[0]))]
    writers: dict[Table, list[int]] = {}
    reads: list[frozenset[Table]] = []
    names: list[frozenset[Table]] = []
    built = {last_name(table_of(code.table, project.dialect)) for code in project.codes if code.table}
    for place, code in enumerate(project.codes):
        read, written = _tables_of(project, code, built)
        reads.append(read)
        names.append(read if code.parents is not None else read | written)
        for table in written:
            writers.setdefault(table, []).append(place)
    order: list[int] = []
    state = [0] * len(project.codes)

    def parents(place: int) -> Iterator[int]:
        for table in sorted(reads[place], key=str):
            yield from writers.get(table, ())

    for start in range(len(project.codes)):
        _visit(start, parents, state, order)
    return [(project.codes[place], names[place]) for place in order]


def table_of(name: str, dialect: str) -> Table:
    """A table by its name in SQL."""
    return Table(parse_name_parts(dialect_of(dialect), name))


def last_name(table: Table) -> str:
    """A table's name without its schema, in lower case."""
    return table.parts[-1].lower()


def read_and_written(code: Code, project: ProjectCode) -> tuple[frozenset[Table], frozenset[Table]]:
    """The tables that the text of a file reads and writes; a model writes its own."""
    reads, writes = _reads_and_writes(code.sql, project.dialect, project.defaults)
    return reads, frozenset({table_of(code.table, project.dialect)}) if code.builds is not None else writes


def _visit(start: int, parents: Callable[[int], Iterator[int]], state: list[int], order: list[int]) -> None:
    """Depth first, without recursion: chains of models may be long."""
    stack = [(start, parents(start))] if not state[start] else []
    state[start] = 1
    while stack:
        place, rest = stack[-1]
        following = next((one for one in rest if not state[one]), None)
        if following is None:
            order.append(place)
            stack.pop()
        else:
            state[following] = 1
            stack.append((following, parents(following)))


def _tables_of(project: ProjectCode, code: Code, built: set[str]) -> tuple[frozenset[Table], frozenset[Table]]:
    """The tables that a file reads, and those that it writes. `built`: the names of all models."""
    own = frozenset({table_of(code.table, project.dialect)} if code.table else ())
    declared = frozenset(table_of(name, project.dialect) for name in code.parents or ())
    if code.parents is not None and not _names_another(code, built - set(map(last_name, declared | own))):
        return declared, own
    reads, writes = _reads_and_writes(code.sql, project.dialect, project.defaults)
    return declared | reads, own or writes


def _named_tables(project: ProjectCode, code: Code) -> frozenset[Table]:
    """The tables with known columns that a text names."""
    tables = (table_of(name, project.dialect) for name in project.columns)
    is_named = _names_in(code)
    return frozenset(table for table in tables if is_named(last_name(table)))


def _names_another(code: Code, built: set[str]) -> bool:
    """Whether a text may read a model that is not declared as its parent: its name is written out, without a ref."""
    return any(map(_names_in(code), built))


def _names_in(code: Code) -> Callable[[str], bool]:
    """Whether a name, in lower case, is written out in a text."""
    text = code.sql.lower()
    words = set(_WORD.findall(text))
    return lambda name: name in words if _WORD.fullmatch(name) else name in text


@lru_cache(maxsize=4_096)
def _reads_and_writes(sql: str, dialect: str, defaults: tuple[str, ...]) -> tuple[frozenset[Table], frozenset[Table]]:
    script = read_script(sql, dialect, Catalog.from_columns({}, dialect, defaults))
    reads = frozenset(table for statement in script for table in statement.reads)
    return reads, frozenset(table for statement in script for table in statement.writes)
