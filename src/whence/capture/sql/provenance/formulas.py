"""Formulas: what a value, or a set of rows, is made of. Equal formulas are one object (hash-consing).

A column that is used twice is one object with two users, so a chain of queries costs as much as its text, not as the
formula that somebody would write out. A formula has a digest that does not depend on the order of its construction.

Sources of rows are named in two ways. While a query is read, each item of FROM is an `inst` formula with a serial
number (`is_open`). When the query is complete, its instances become `src` formulas, which are numbered by content
(de Bruijn's method: `depth` counts the queries between a reference and its source). So aliases never matter.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Final, NamedTuple

COMMUTATIVE: Final = frozenset({"add", "mul", "eq", "neq", "bag"})
"""Operations whose arguments have no order."""
IDEMPOTENT: Final = frozenset({"and", "or", "set"})
"""Operations whose arguments have no order, and count once."""
BINDERS: Final = frozenset({"of", "scalar", "exists", "in_query"})
"""Operations whose arguments are read in another query."""
STRICT: Final = frozenset(
    {
        *("add", "sub", "mul", "div", "neg", "abs", "round", "floor", "ceil"),
        *("upper", "lower", "trim", "substring", "length", "jsonextract", "jsonextractscalar"),
        *("cast", "trycast", "extract", "date_plus", "date_trunc", "datediff", "attimezone", "typed"),
    }
)
"""Operations that give NULL if any argument is NULL."""
PUSHED_SIZE: Final = 64
"""A formula with more parts than this is not written out again in the query around it."""


class Formula:
    """One operation over arguments: formulas, or texts and numbers."""

    __slots__ = (
        *("args", "digest", "has_aggregate", "has_scalar", "has_window"),
        *("is_open", "is_volatile", "op", "parts", "size", "store"),
    )

    is_open: bool
    """It refers to an instance of a query that is not complete."""
    has_window: bool
    has_aggregate: bool
    has_scalar: bool
    is_volatile: bool
    """Its value is another one each time, or a part of it was not read."""
    size: int
    """The number of operations, counted up to `PUSHED_SIZE`."""
    parts: "tuple[Formula, ...]"
    """The arguments that are formulas."""

    def __init__(self, store: "Formulas", op: str, args: "tuple[Argument, ...]") -> None:
        self.store = store
        self.op = op
        self.args = args
        parts = self.parts = tuple(arg for arg in args if isinstance(arg, Formula))
        is_bound = op in BINDERS or op in ("inst", "src")
        self.is_open = op == "inst" or any(part.is_open for part in parts)
        self.has_window = op == "window" or (not is_bound and any(part.has_window for part in parts))
        self.has_aggregate = op == "aggregate" or (not is_bound and any(part.has_aggregate for part in parts))
        self.has_scalar = op == "scalar" or (not is_bound and any(part.has_scalar for part in parts))
        self.is_volatile = op == "volatile" or any(part.is_volatile for part in parts)
        self.size = 1 if is_bound else min(1 + sum(part.size for part in parts), PUSHED_SIZE + 1)
        self.digest = _digest(op, args)

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.args))})"


Argument = Formula | str | int | None


class RowKey(NamedTuple):
    """Columns that no two rows share. Rows with a NULL in one may be repeated, unless `is_complete`."""

    columns: tuple[Formula, ...]
    is_complete: bool


class Formulas:
    """All formulas of one comparison. `len` is the number of distinct ones, the measure of memory."""

    __slots__ = ("_known", "_serial", "decided", "dialect", "keys", "kinds", "types")

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[Argument, ...], tuple[type, ...]], Formula] = {}
        self._serial = 0
        self.keys: dict[Formula, tuple[RowKey, ...]] = {}
        """The declared keys of tables and models, by their rows."""
        self.types: dict[Formula, Mapping[str, str]] = {}
        """The types of the columns of tables, by their rows: as far as they are certain, in lower case."""
        self.kinds: dict[tuple[Formula, Formula | None], str] = {}
        """The types of values that are known already, by the rows that they are of."""
        self.decided: dict[object, object] = {}
        """What was decided of values and conditions, as far as it follows from them, the dialect and the types."""
        self.dialect = ""
        """The dialect of the statements that are read."""

    def __len__(self) -> int:
        return len(self._known)

    def make(self, op: str, *args: Argument) -> Formula:
        """The formula of an operation, in its normal form."""
        if op in IDEMPOTENT:
            args = tuple(_sorted(dict.fromkeys(args)))
        elif op in COMMUTATIVE:
            args = tuple(_sorted(args))
        key = (op, args, tuple(map(type, args)))  # the types keep 1 and True apart
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Formula(self, op, args)
        return found

    def instance(self, rows: Formula) -> Formula:
        """A new item of FROM over these rows."""
        self._serial += 1
        return self.make("inst", self._serial, rows)

    def connect(self, op: str, parts: Iterable[Formula]) -> Formula:
        """The AND or OR of parts: flat, without repetition."""
        flat: dict[Formula, None] = {}
        for part in parts:
            flat.update(dict.fromkeys(part.args if part.op == op else (part,)))  # type: ignore[arg-type]
        return next(iter(flat)) if len(flat) == 1 else self.make(op, *flat)

    def rebuild(self, formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
        """The formula with changed arguments."""
        args = tuple(change(arg) if isinstance(arg, Formula) else arg for arg in formula.args)
        return formula if args == formula.args else self.make(formula.op, *args)

    def push(self, formula: Formula, instance: Formula, whole: bool = False, windows: bool = False) -> Formula:
        """A column of complete rows, seen by the query that reads them as `instance`.

        Operations on single rows are written outside, so that it does not matter which of two queries applies them.
        `whole`: the rows may be missing (outer joins), so the value is not what its operation yields, unless that is
        NULL then. `windows`: window
        functions are computed outside too, over the rows that are left then.
        """
        memo: dict[Formula, Formula] = {}

        def visit(part: Formula) -> Formula:
            found = memo.get(part)
            if found is None:
                inside = part.op not in ROW_BOUND and part.size <= PUSHED_SIZE
                inside = inside or (windows and part.has_window and part.op != "aggregate")
                found = memo[part] = self.rebuild(part, visit) if inside else self.make("of", instance, part)
            return found

        return self.make("of", instance, formula) if whole and not is_strict(formula) else visit(formula)


def is_strict(formula: Formula) -> bool:
    """Whether a column of a row that is missing is NULL outside of its operations too."""
    if formula.op in ("name", "aggregate", "window", "of"):
        return True
    is_small = formula.size <= PUSHED_SIZE
    return is_small and formula.op in STRICT and any(is_strict(arg) for arg in formula.args if isinstance(arg, Formula))


ROW_BOUND: Final = BINDERS | {"name", "aggregate", "window", "src", "inst", "union_column", "unresolved"}
"""Operations that need the rows of their own query."""


def _sorted(args: Iterable[Argument]) -> list[Argument]:
    return sorted(args, key=lambda arg: arg.digest if isinstance(arg, Formula) else repr(arg).encode())


def _digest(op: str, args: "tuple[Argument, ...]") -> bytes:
    hasher = blake2b(op.encode(), digest_size=16)
    for arg in args:
        part = arg.digest if isinstance(arg, Formula) else repr(arg).encode("utf-8", "surrogatepass")
        hasher.update(b"%d%d:" % (isinstance(arg, Formula), len(part)))
        hasher.update(part)
    return hasher.digest()
