"""Decides by execution what each edit of a statement changes, and writes `queries/<corpus>_truth.txt`.

    make accuracy-gate ARGS="--truth film"

Both versions run on random databases: small domains, NULLs, duplicates, ties, hostile texts, empty tables; keys are
unique. A column counts as changed if the bag of its values differs in any of them, or if it was removed or has another
type. With names, only these statements run again. Prints the edits whose author expected something else.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from capture.sql.gate_corpus.execution import Database, Engine, StatementError, Table
from capture.sql.gate_corpus.query_edits import FOLDER, Edit, Truth, edits, truths, write_truths

_FAR_LIMIT = re.compile(r"LIMIT 100\b")


@dataclass(slots=True)
class Difference:
    """What differed so far between the versions of one edit."""

    removed: set[str] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    type: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    rows: bool = False
    broken: str = ""
    witness: str = ""

    def add(self, number: int, before: Table, after: Table) -> None:
        """Compare what two versions made of one database."""
        shared = [name for name in before.types if name in after.types]
        self.removed |= before.types.keys() - after.types.keys()
        self.added |= after.types.keys() - before.types.keys()
        self.type |= {name for name in shared if before.types[name] != after.types[name]}
        left, right = _columns(before, shared), _columns(after, shared)
        whole = Counter(zip(*left.values(), strict=True)), Counter(zip(*right.values(), strict=True))
        changed = [name for name in shared if Counter(left[name]) != Counter(right[name])]
        self.values |= set(changed)
        self.rows |= len(before.rows) != len(after.rows) or (not changed and whole[0] != whole[1])
        if changed and not self.witness:
            self.witness = _witness(number, changed[0], left[changed[0]], right[changed[0]])

    def truth(self) -> Truth:
        removed, added, kinds, values = (
            tuple(sorted(names)) for names in (self.removed, self.added, self.type, self.values)
        )
        return Truth((), removed, added, kinds, values, self.rows, self.broken, self.witness)


def _columns(table: Table, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    places = list(table.types)
    return {name: tuple(row[places.index(name)] for row in table.rows) for name in names}


def _witness(number: int, name: str, left: Sequence[str], right: Sequence[str]) -> str:
    lost, new = Counter(left) - Counter(right), Counter(right) - Counter(left)
    value, count = min((lost or new).items())
    return f"database {number}, {name}: {value!r} {count} times {'less' if lost else 'more'}".replace("\n", " ")


def judge(engine: Engine, of: Sequence[Edit]) -> Iterator[tuple[str, Truth]]:
    """The columns of a statement, and the truth of its edits."""
    versions = [of[0].before, *(edit.after for edit in of)]
    with engine.databases(versions, of[0].statement) as databases:
        before = [database.run(of[0].before) for database in databases]
        if not any(table.rows for table in before):
            sys.stdout.write(f"no database has rows for {of[0].statement}\n")
        yield of[0].statement, Truth(columns=tuple(before[0].types))
        for edit in of:
            yield edit.name, _judge(edit, databases, before)


def _judge(edit: Edit, databases: Sequence[Database], before: Sequence[Table]) -> Truth:
    difference = Difference()
    for number, (database, table) in enumerate(zip(databases, before, strict=True)):
        try:
            difference.add(number, table, database.run(edit.after))
        except StatementError as error:
            if error.is_broken:
                return Truth(broken=str(error))
            difference.values |= set(table.types)
            difference.witness = f"database {number}: {error}"
    if not difference.truth().is_harmless:
        _add_small_limits(difference, edit, databases)
    return difference.truth()


def _add_small_limits(difference: Difference, edit: Edit, databases: Sequence[Database]) -> None:
    """What else differs where LIMIT leaves rows out: no database has so many rows. Ties would make this a false alarm
    for an edit that changes nothing.
    """
    before, after = (_FAR_LIMIT.sub("LIMIT 2", sql) for sql in (edit.before, edit.after))
    if before == edit.before:
        return
    for number, database in enumerate(databases):
        with suppress(StatementError):
            difference.add(number, database.run(before), database.run(after))


def _engine(edit: Edit) -> Engine:
    if edit.is_on_duckdb:
        from capture.sql.gate_corpus.duckdb_engine import DuckDBEngine

        return DuckDBEngine()
    from capture.sql.gate_corpus.spark_engine import SparkEngine

    return SparkEngine()


def write(corpus: str, *names: str) -> None:
    """Write the truth of a corpus, or of the statements of these names alone."""
    path = FOLDER / f"{corpus}_truth.txt"
    known = dict(truths(corpus)) if path.exists() else {}
    by_statement: dict[str, list[Edit]] = {}
    for edit in edits(corpus):
        by_statement.setdefault(edit.statement, []).append(edit)
    for statement, of in by_statement.items():
        if names and statement not in names:
            continue
        known |= judge(_engine(of[0]), of)
        names_in_order = dict.fromkeys(name for edit in edits(corpus) for name in (edit.statement, edit.name))
        found = {name: known[name] for name in names_in_order if name in known}
        path.write_text(write_truths(found), "utf-8")
        sys.stdout.write(f"{statement}: {_surprises(of, found)}\n")
        sys.stdout.flush()


def _surprises(of: Sequence[Edit], found: Mapping[str, Truth]) -> str:
    """The edits whose author expected something else."""
    wrong = [edit for edit in of if found[edit.name].is_harmless != (edit.expected != "harmful")]
    return ", ".join(f"{edit.kind} (expected: {edit.expected})" for edit in wrong) or "as expected"


if __name__ == "__main__":
    write(*sys.argv[1:])
