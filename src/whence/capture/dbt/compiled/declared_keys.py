"""The keys that a project's tests hold: `unique` and `not_null`, by the tables' names in SQL."""

from collections.abc import Iterator, Mapping

from whence.capture.dbt.artifacts.project import Project, Test
from whence.capture.sql import Catalog
from whence.capture.sql.fingerprint.projects.code import UniqueKey

_COMBINATION = "unique_combination_of_columns"
"""Of dbt_utils."""


def declared_keys(project: Project, dialect: str) -> Mapping[str, tuple[UniqueKey, ...]]:
    """The keys of tables. A test that only warns, counts failures, or reads some rows holds nothing."""
    tests = [one for one in project.tests.values() if _holds(one)]
    filled = {(one.node, name) for one in tests if one.name == "not_null" for name in _folded([one.column], dialect)}
    found: dict[str, dict[UniqueKey, None]] = {}
    for test in tests:
        node = project.nodes.get(test.node)
        if node is None or not node.relation:
            continue
        for columns in map(tuple, _unique_columns(test, dialect)):
            is_complete = all((test.node, name) in filled for name in columns)
            found.setdefault(node.relation, {})[UniqueKey(columns=columns, is_complete=is_complete)] = None
    return {table: tuple(keys) for table, keys in found.items()}


def _unique_columns(test: Test, dialect: str) -> Iterator[list[str]]:
    if test.name == "unique" and test.column:
        yield _folded([test.column], dialect)
    listed = test.params.get("combination_of_columns")
    if test.name.endswith(_COMBINATION) and isinstance(listed, list) and all(isinstance(one, str) for one in listed):
        yield _folded(listed, dialect)


def _folded(columns: list[str], dialect: str) -> list[str]:
    """Names as the dialect folds them. An expression is no column."""
    (names,) = Catalog.from_columns({"t": columns}, dialect).tables.values()
    return list(names)


_DEFAULTS = {"where": None, "limit": None, "error_if": "!= 0", "fail_calc": "count(*)", "enabled": True}


def _holds(test: Test) -> bool:
    """Whether a failure is an error, whatever its rows and their number."""
    is_plain = all(test.config.get(name) in (None, default) for name, default in _DEFAULTS.items())
    return test.is_generic and test.severity == "error" and is_plain
