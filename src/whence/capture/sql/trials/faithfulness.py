"""Which SQL DuckDB executes as the warehouse would; anything else keeps the fingerprint's verdict."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

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


DIALECTS: Final = frozenset({"postgres", "redshift", "snowflake", "bigquery", "spark", "databricks"})
"""Whose texts are translated; their strings are compared character by character."""
_SAME_MEANING: Final = (
    *(exp.Query, exp.From, exp.Where, exp.Group, exp.Having, exp.Join, exp.With, exp.CTE, exp.TableAlias, exp.Table),
    *(exp.Column, exp.Identifier, exp.Alias, exp.Star, exp.Paren, exp.Literal, exp.Boolean, exp.Null, exp.Tuple),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In, exp.Between),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Exists, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.DPipe),
    *(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs, exp.Upper, exp.Lower, exp.Count, exp.Sum, exp.Min, exp.Max),
    *(exp.Distinct, exp.Insert, exp.Create, exp.Schema, exp.Window, exp.WindowSpec, exp.RowNumber, exp.Subquery),
)
"""Syntax of the same meaning in DuckDB and in `DIALECTS`, by their manuals; not: division, rounding, casts, the order
of NULL, dates, patterns, collations, and functions of texts."""


class NotTriedError(Exception):
    """Two versions cannot be executed as the warehouse would; says why."""


def translated(sql: str, statements: Sequence[exp.Expr], dialect: str) -> str:
    """A file's text for DuckDB. Raises NotTriedError."""
    for statement in statements:
        check_stable(statement)
    if dialect == "duckdb":
        return sql.strip().rstrip(";")
    if dialect not in DIALECTS:
        raise NotTriedError(f"it is in the dialect of {dialect}")
    try:
        return ";\n".join(one.sql("duckdb", unsupported_level=ErrorLevel.RAISE) for one in statements)
    except (SqlglotError, ValueError) as error:
        raise NotTriedError(f"DuckDB has no spelling of it: {str(error).splitlines()[0]}") from None


def check_stable(statement: exp.Expr) -> None:
    """Raise NotTriedError if a statement may give another answer each time."""
    for node in statement.walk():
        if isinstance(node, _VOLATILE):
            raise NotTriedError(f"{node.key} gives another value each time")
        if isinstance(node, (exp.Anonymous, exp.Func)) and _name(node) in _VOLATILE_NAMES:
            raise NotTriedError(f"{_name(node)} gives another value each time")


def _name(node: exp.Expr) -> str:
    return (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()  # type: ignore[attr-defined]


def check_same_meaning(base: Sequence[exp.Expr], head: Sequence[exp.Expr], dialect: str) -> None:
    """Raise NotTriedError unless what differs is made of syntax of one meaning, and all else is in both versions."""
    if dialect == "duckdb":
        return
    texts = [Counter(one.sql("duckdb") for one in of) for of in (base, head)]
    if texts[0] == texts[1]:
        raise NotTriedError("the versions are one text in DuckDB's spelling")
    left, right = (Counter(_foreign(of, dialect)) for of in (base, head))
    for text in sorted((left - right) + (right - left)):
        raise NotTriedError(f"DuckDB may not agree with {dialect} on {text[:60]}")


def check_same_types(statements: Sequence[exp.Expr], kinds: Mapping[str, frozenset[str]], dialect: str) -> None:
    """Raise NotTriedError if types of another dialect compare in their own way. `kinds`: those of columns of tables, by
    their names in lower case.
    """
    if dialect == "duckdb":
        return
    if dialect == "bigquery" and any("float" in one for one in kinds.values()):
        raise NotTriedError("NaN is not compared as in DuckDB")
    for node in (one for statement in statements for one in statement.find_all(*_COMPARISONS)):
        parts = [node.this, *node.expressions, *(node.args.get(name) for name in ("expression", "low", "high"))]
        found = {kind for one in parts if isinstance(one, exp.Column) for kind in kinds.get(one.name.lower(), ())}
        literals = [one for one in parts if isinstance(one, exp.Literal)]
        if any(one.is_string != (not found & _NUMERIC) for one in literals if found):
            raise NotTriedError(f"{node.sql(dialect)[:60]} compares values of two types")


_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between, exp.NullSafeEQ)
_NUMERIC: Final = frozenset({"int", "decimal", "float"})


def _foreign(statements: Sequence[exp.Expr], dialect: str) -> Iterator[str]:
    """The outermost parts that may have another meaning in DuckDB."""
    for statement in statements:
        for node in statement.walk(prune=lambda one: not isinstance(one, _SAME_MEANING)):
            if not isinstance(node, _SAME_MEANING):
                yield node.sql(dialect)


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
