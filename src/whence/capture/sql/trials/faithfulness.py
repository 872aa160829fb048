"""Which SQL DuckDB executes as the warehouse would; anything else keeps the fingerprint's verdict."""

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

_VOLATILE: Final = (
    *(
        exp.CurrentDate,
        exp.CurrentTime,
        exp.CurrentTimestamp,
        exp.CurrentDatetime,
        exp.CurrentUser,
        exp.Rand,
        exp.Randn,
    ),
    *(exp.Uuid, exp.TableSample, exp.Command, exp.CurrentTimestampLTZ),
)
_VOLATILE_NAMES: Final = frozenset(
    {
        *("now", "today", "random", "uuid", "gen_random_uuid", "nextval", "currval", "current_setting", "setseed"),
        *("get_current_timestamp", "transaction_timestamp", "txid_current", "getvariable", "read_csv", "read_parquet"),
        *("current_localtimestamp", "current_localtime", "get_current_time", "uuidv4", "uuidv7", "gen_random_uuid"),
    }
)


class NotTriedError(Exception):
    """Two versions cannot be executed as the warehouse would; says why."""


def translated(sql: str, statements: Sequence[exp.Expr], dialect: str) -> str:
    """A file's text for DuckDB. Raises NotTriedError."""
    for statement in statements:
        check_stable(statement)
    if dialect == "duckdb":
        return sql.strip().rstrip(";")
    raise NotTriedError(f"it is in the dialect of {dialect}")


def check_stable(statement: exp.Expr) -> None:
    """Raise NotTriedError if a statement may give another answer each time."""
    for node in statement.walk():
        if isinstance(node, _VOLATILE):
            raise NotTriedError(f"{node.key} gives another value each time")
        if isinstance(node, (exp.Anonymous, exp.Func)) and _name(node) in _VOLATILE_NAMES:
            raise NotTriedError(f"{_name(node)} gives another value each time")


def _name(node: exp.Expr) -> str:
    return (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()  # type: ignore[attr-defined]


_TIED: Final = (
    *(exp.Limit, exp.Fetch, exp.Offset, exp.Window, exp.First, exp.Last, exp.AnyValue, exp.ArrayAgg, exp.GroupConcat),
    *(exp.ArgMax, exp.ArgMin, exp.Distinct, exp.Mode, exp.JoinHint, exp.Qualify, exp.FirstValue, exp.LastValue),
)


def depends_on_order(statement: exp.Expr) -> bool:
    """Whether the order of rows may decide: with ties, either answer is right."""
    for node in statement.walk():
        if isinstance(node, exp.Distinct) and not node.args.get("on"):
            continue
        if isinstance(node, (*_TIED, exp.Merge, exp.Update)):
            return True
        if isinstance(node, exp.Join) and (node.method or "").upper() == "ASOF":
            return True
        if isinstance(node, exp.Anonymous) and node.name.lower() in {"list", "arbitrary", "string_agg", "histogram"}:
            return True
    return False
