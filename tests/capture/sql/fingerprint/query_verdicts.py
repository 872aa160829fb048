"""The verdicts on single statements: the corpora of TPC-DS, TPC-H, Spark SQL and made-up companies."""

from collections.abc import Iterator, Mapping

from capture.sql.fingerprint.verdicts import EVERY_EDIT, Compare, Verdict
from capture.sql.gate_corpus import query_edits, shop
from capture.sql.gate_corpus.estates import Estate, find_estate
from capture.sql.gate_corpus.query_edits import Edit, Truth
from capture.sql.generated import tpcds, tpch
from whence.capture.sql.fingerprint.projects.code import Code, ProjectCode, UniqueKey
from whence.capture.sql.fingerprint.projects.evaluation import Readings
from whence.capture.sql.fingerprint.projects.versions import compare_projects
from whence.model.changes import ColumnChange
from whence.model.names import DatasetName

_ANSWER = DatasetName("duckdb", "answer")
"""The dataset that a query of a benchmark is the model of."""


def query_verdicts(
    corpus: str, compare: Compare = compare_projects, part: slice = EVERY_EDIT, has_keys: bool = False
) -> Iterator[Verdict]:
    """The verdicts on one of `query_edits.CORPORA`. `has_keys`: the keys of its tables are declared."""
    readings, truths = Readings(), query_edits.truths(corpus)
    for edit in query_edits.edits(corpus)[part]:
        estate = find_estate(edit.statement)
        before, after = (
            _project(edit, sql) if estate is None else _of_estate(estate, edit, sql, has_keys)
            for sql in (edit.before, edit.after)
        )
        changes = compare(before, after, readings)
        notable = tuple(change for change in changes if not change.kind.is_harmless)
        dataset = _dataset(edit) if estate is None else estate.target_of(edit.before) or _ANSWER.name
        yield _verdict(edit, dataset, truths[edit.name], truths[edit.statement], notable)


def _verdict(edit: Edit, dataset: str, truth: Truth, statement: Truth, changes: tuple[ColumnChange, ...]) -> Verdict:
    # DuckDB and Spark know a column by any case of its letters; the reader writes them small.
    changed = frozenset((dataset, name.lower()) for name in truth.changed())
    return Verdict(
        title=edit.name,
        is_harmless=truth.is_harmless,
        is_broken=bool(truth.broken),
        changed=changed,
        unplaced=frozenset() if changed or not truth.rows else frozenset({dataset}),
        columns={dataset: tuple(name.lower() for name in statement.columns)},
        changes=changes,
    )


def _dataset(edit: Edit) -> str:
    return _ANSWER.name if edit.is_query else edit.statement.removesuffix(query_edits.IN_DUCKDB)


def _project(edit: Edit, sql: str) -> ProjectCode:
    """A query as the only model of a project, a statement as its only script."""
    if edit.is_query:
        types = tpch.types() if edit.statement.startswith(query_edits.TPCH) else tpcds.types()
        code = Code(file="answer.sql", sql=sql, content=sql, builds=_ANSWER, table=_ANSWER.name)
        columns = {table: tuple(names) for table, names in types.items()}
        return ProjectCode(dialect="duckdb", namespace="duckdb", codes=(code,), columns=columns, types=types)
    known: Mapping[str, Mapping[str, str]] = {**shop.COLUMNS, **shop.TARGETS}
    columns = {table: tuple(names) for table, names in known.items()}
    code = Code(file="job.sql", sql=sql, content=sql)
    return ProjectCode(dialect="spark", namespace="spark", codes=(code,), columns=columns, types=known)


def _of_estate(estate: Estate, edit: Edit, sql: str, has_keys: bool) -> ProjectCode:
    """A query as the only model of a project, a statement that writes a table as its only script."""
    if estate.target_of(edit.before):
        code = Code(file="job.sql", sql=sql, content=sql)
    else:
        code = Code(file="answer.sql", sql=sql, content=sql, builds=_ANSWER, table=_ANSWER.name)
    types = estate.types
    columns = {table: tuple(names) for table, names in types.items()}
    keys = {table: (UniqueKey(columns=key, is_complete=True),) for table, key in estate.keys.items() if has_keys}
    return ProjectCode(dialect="duckdb", namespace="duckdb", codes=(code,), columns=columns, types=types, keys=keys)
