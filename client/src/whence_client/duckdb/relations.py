"""Relations of DuckDB: the connection of each, its text, and the frames of the program that it reads."""

from __future__ import annotations

import functools
import re
import sys
import weakref
from typing import Any

from whence_client.captures.guard import Guard
from whence_client.captures.patches import Patches
from whence_client.duckdb.statements import split_name

_RELATIONS = (
    *("from_arrow", "from_csv_auto", "from_df", "from_parquet", "read_csv", "read_json", "read_parquet"),
    *("table", "table_function", "values", "view"),
    *("aggregate", "cross", "distinct", "except_", "filter", "intersect", "join", "limit", "map", "order", "project"),
    *("select", "set_alias", "sort", "union", "unique"),
)
"""What makes a relation, of a connection or of another relation."""
_SOURCE = re.compile(
    r'(?:WITH|,)\s*("(?:[^"]|"")+"|\w+) AS (?:NOT MATERIALIZED )?\(\s*SELECT \* FROM "(__duckdb_source_\w+)"\s*\)'
)
_SCAN = re.compile(r"SELECT \* FROM (?:arrow|pandas)_scan\(0x([0-9a-f]+)[^()]*\)")
"""DuckDB 1 has the address of a frame where DuckDB 2 has a name."""
_CALL = compile("__whence_call()", "<whence>", "eval")


class Relations:
    """The connections of relations. Those of DuckDB 1 do not have them themselves: hooks follow how they are made."""

    def __init__(self, duckdb: Any, patches: Patches, guard: Guard) -> None:
        self._duckdb, self._patches, self._guard = duckdb, patches, guard
        self._is_known = hasattr(duckdb.DuckDBPyRelation, "_con")
        self._connections: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def install(self) -> None:
        """Hook what makes relations, where DuckDB itself does not know their connections."""
        owners = (self._duckdb, self._duckdb.DuckDBPyConnection, self._duckdb.DuckDBPyRelation)
        for owner in () if self._is_known else owners:
            for name in _RELATIONS:
                if hasattr(owner, name):
                    self._patches.replace(owner, name, self._hook)

    def keep(self, relation: Any, connection: Any) -> None:
        """Remember the connection of a relation."""
        if not self._is_known:
            self._connections[relation] = connection

    def connection_of(self, relation: Any) -> Any:
        """The connection of a relation."""
        if self._is_known:
            return relation._con
        return self._connections.get(relation) or self._duckdb.default_connection()

    def connection_in(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The connection that a call is a method of or has as an argument, else that of the module."""
        is_method = args and isinstance(args[0], self._duckdb.DuckDBPyConnection)
        return args[0] if is_method else named.get("connection") or self._duckdb.default_connection()

    def _hook(self, original: Any) -> Any:
        """Remember the connection of what is made. Its text may have names of the caller's variables, too."""

        @functools.wraps(original)
        def hooked(*args: Any, **named: Any) -> Any:
            result = call_for(sys._getframe(1), original, args, named)
            self._guard.run("relation", self._observe, args, named, result)
            return result

        return hooked

    def _observe(self, args: tuple[Any, ...], named: dict[str, Any], result: Any) -> None:
        if isinstance(result, self._duckdb.DuckDBPyRelation):
            is_of_relation = args and isinstance(args[0], self._duckdb.DuckDBPyRelation)
            self.keep(result, self.connection_of(args[0]) if is_of_relation else self.connection_in(args, named))


def call_for(caller: Any, original: Any, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Call in a frame that has the variables of the caller's: DuckDB looks for tables among them."""
    call = functools.partial(original, *args, **named)
    return eval(_CALL, caller.f_globals, {**caller.f_locals, "__whence_call": call})


def text_of(relation: Any) -> str:
    """The text of a relation, with names for the frames that it reads."""
    return _SCAN.sub(r'SELECT * FROM "__duckdb_source_\1"', relation.sql_query())


def find_sources(relation: Any) -> dict[str, str]:
    """The names that DuckDB gives to frames inside a relation, by the variables of the program."""
    return {split_name(name)[0]: source for name, source in _SOURCE.findall(text_of(relation))}
