"""Values to try for a column, as SQL literals: what queries compare it with, what is just beside that, and oddities."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final, Literal

from sqlglot import exp
from sqlglot.errors import SqlglotError

from whence.capture.sql.trials.generation.expressions import texts_of

Kind = Literal["int", "decimal", "float", "text", "bool", "date", "timestamp", "timestamptz", "time", "json", "list"]
_KINDS: Final = (
    ("int", r"(?:u?tiny|u?small|u?big|u?huge|u)?int(?:eger)?\d*|long|short|byteint|byte|number\(\d+,\s*0\)"),
    ("decimal", r"(?:decimal|numeric|number)(?:\(\d+(?:,\s*\d+)?\))?"),
    ("float", r"double|float\d*|real|double precision"),
    ("text", r"(?:var|n|nvar)?char(?:\(\d+\))?|text|string|character varying(?:\(\d+\))?|bpchar"),
    ("bool", r"bool(?:ean)?"),
    ("date", r"date"),
    ("timestamptz", r"timestamptz|timestamp with time zone"),
    ("timestamp", r"timestamp(?:_(?:ns|ms|s|us))?|datetime|timestamp without time zone|timestamp_ntz"),
    ("time", r"time"),
    ("json", r"json"),
)
_USUAL_DAY: Final = date(2024, 1, 31)
_HALF: Final = Decimal("0.5")


@dataclass(frozen=True, slots=True)
class Shape:
    """The kind of a type, and what its values need: `scale` of a decimal, the `element` of a list."""

    kind: Kind
    type: str
    scale: int = 0
    digits: int = 9
    element: "Shape | None" = None


@dataclass(frozen=True, slots=True)
class Hints:
    """What a query says of a column: the numbers, texts, patterns and JSON paths beside it, and spans of time."""

    numbers: frozenset[Decimal] = frozenset()
    texts: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    spans: frozenset[timedelta] = frozenset()
    casts: frozenset[Kind] = frozenset()
    """The kinds that a text is converted to."""
    units: frozenset[str] = frozenset()
    """The units of time that a query names."""

    def __or__(self, other: "Hints") -> "Hints":
        return Hints(
            self.numbers | other.numbers,
            self.texts | other.texts,
            self.patterns | other.patterns,
            self.paths | other.paths,
            self.spans | other.spans,
            self.casts | other.casts,
            self.units | other.units,
        )


def duckdb_type(type_: str, parser: str) -> str:
    """A type of a dialect of SQLGlot as DuckDB calls it."""
    if parser == "duckdb":
        return type_
    if parser == "bigquery" and type_.lower() in ("numeric", "decimal"):
        return "DECIMAL(38, 9)"
    try:
        return exp.DataType.build(type_, dialect=parser).sql("duckdb")
    except SqlglotError:
        return type_


def shape_of(type_: str) -> Shape | None:
    """The shape of a type of DuckDB, or None for a type of which no values are made."""
    text = " ".join(type_.lower().split())
    if text.endswith("[]"):
        element = shape_of(text[:-2])
        return Shape("list", type_, element=element) if element else None
    for kind, pattern in _KINDS:
        if re.fullmatch(pattern, text):
            digits = [int(one) for one in re.findall(r"\d+", text)] if kind == "decimal" else []
            whole, scale = (digits[0], digits[1] if len(digits) > 1 else 0) if digits else (18, 3)
            return Shape(kind, type_, scale, whole - scale)  # type: ignore[arg-type]
    return None


def values_of(shape: Shape, hints: Hints) -> list[str]:
    """Literals of a type without NULL, those of the query first."""
    return list(dict.fromkeys(_literals(shape, hints)))


def _literals(shape: Shape, hints: Hints) -> Iterator[str]:
    match shape.kind:
        case "int":
            yield from map(str, _whole_numbers(hints, shape))
        case "decimal":
            yield from _decimals(hints, shape)
        case "float":
            yield from _floats(hints)
        case "text":
            yield from map(quoted, _converted(hints))
            yield from map(quoted, _texts(hints))
        case "bool":
            yield from ("TRUE", "FALSE")
        case "date":
            yield from (f"'{day}'" for day in _days(hints))
        case "timestamp":
            yield from (f"'{one}'" for one in _moments(hints))
        case "timestamptz":
            yield from (f"'{one}+00'" for one in _moments(hints))
        case "time":
            yield from (f"'{one.time()}'" for one in _moments(hints))
        case "json":
            yield from map(quoted, _documents(hints))
        case "list":
            yield from _lists(shape, hints)


def quoted(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def _whole_numbers(hints: Hints, shape: Shape) -> Iterator[int]:
    most = {"tinyint": 127, "smallint": 32_767}.get(shape.type.lower(), 2_000_000_000)
    for number in sorted(hints.numbers):
        near = int(number)
        yield from (one for one in (near, near + 1, near - 1) if abs(one) <= most)
    yield from (1, 2, 3, 0, 4, -1, 7, 10)
    numbers = sorted({abs(int(one)) for one in hints.numbers if 1 < abs(one) < 100})[:3]
    yield from (number * factor for number in numbers for factor in (2, -1))
    if not hints.numbers:
        yield 100


def _decimals(hints: Hints, shape: Shape) -> Iterator[str]:
    step = Decimal(1).scaleb(-shape.scale)
    most = Decimal(10) ** min(shape.digits, 12)
    found = [one for number in sorted(hints.numbers) for one in (number, number + step, number - step, number + 1)]
    found += [*map(Decimal, ("0", "1", "2", "0.5", "-1", "10", "3.5", "-2.5", "2.25", "1.15", "0.05", "99.99", "100"))]
    found += [number * 2 for number in sorted(hints.numbers)[:4]]
    found += [-number for number in sorted(hints.numbers)[:2]]
    yield from (format(one, "f") for one in found if abs(one) < most)


def _floats(hints: Hints) -> Iterator[str]:
    for number in sorted(hints.numbers):
        yield from (format(one, "f") for one in (number, number + Decimal("0.5"), number - Decimal("0.5"), number * 2))
    yield from ("0", "1", "1.5", "2.5", "-1", "-0.5", "4", "10.25", "'-0.0'", "'NaN'", "'inf'")


def _texts(hints: Hints) -> Iterator[str]:
    listed = sorted(hints.texts)
    yield from listed
    for text in listed[:12]:
        yield from (text.swapcase(), text.lower(), text.upper())
    for pattern in sorted(hints.patterns):
        yield from _instances(pattern)
    for text in listed[:12]:
        yield from texts_of(text)
    for text in listed[:12]:
        yield from _beside(text)
    yield from ("a", "b", "", "A", "ab", " a ", "B", "á", "c", "a b", "x-1", "10", "2", "2024-02-01")
    for number in sorted(hints.numbers)[:4]:
        text = format(number, "f")
        yield from (text, f"0{text}", f" {text}", f"{text}.0")


def _converted(hints: Hints) -> Iterator[str]:
    """Texts of what a query converts a text to, and one that is none."""
    if hints.casts & {"int", "decimal", "float"}:
        steps = (0, 1, -1, -_HALF) if hints.casts & {"decimal", "float"} else (0, 1, -1)
        yield from (format(one + step, "f") for one in sorted(hints.numbers)[:6] for step in steps)
        yield from ("1", "2", "10", "2.5", "0", "-3", " 7 ", "1.005", "n/a")
    if hints.casts & {"date", "timestamp", "timestamptz"}:
        yield from (str(day) for day in _days(hints)[:7])
        yield from (str(one) for one in _moments(hints)[:7])
        yield from ("n/a", "2024-02-30")
    if "bool" in hints.casts:
        yield from ("true", "false", "1", "no")


def _beside(text: str) -> Iterator[str]:
    if not text.strip():
        yield f"a{text}b"
        return
    if text.swapcase() != text:
        yield text.swapcase()
    yield from (text + "x", f" {text}", f"{text} ", text[:-1])
    if not text.isalnum() and len(text) <= 2:
        yield from (f"a{text}b", f"a{text}b{text}c", f"{text}b")
    else:
        yield f"x{text}"


def _instances(pattern: str) -> Iterator[str]:
    """Texts that fit a pattern of LIKE, and texts that nearly do."""
    for some, one in (("", "q"), ("zz", "q"), ("%", "_")):
        yield pattern.replace("%", some).replace("_", one)
    bare = pattern.replace("%", "").replace("_", "")
    yield from (f"z{bare}", f"{bare}z", bare[1:], bare.swapcase(), f"z{bare}z")


def _days(hints: Hints) -> list[date]:
    stated = sorted({one.date() for one in _stated(hints)})
    years = sorted({int(one) for one in hints.numbers if 1950 <= one <= 2100})
    around = [one for one in stated if 1000 < one.year < 9000][:8]
    around = [*around, *(date(year, 6, 15) for year in years)] or [_USUAL_DAY]
    found = [*stated]
    for year in years:
        found += [date(year, 1, 1), date(year, 12, 31), date(year - 1, 12, 31), date(year + 1, 1, 1)]
    for day in around:
        found += [day, day + timedelta(1), day - timedelta(1)]
    for day in around[:3]:
        found += _shifted_days(day, hints)
        found += [day.replace(day=1), day.replace(day=1) - timedelta(1), day + timedelta(7), day + timedelta(35)]
        found += [day + timedelta(366), day - timedelta(62), day.replace(month=1, day=1)]
    found += [date(2024, 2, 29), date(2023, 12, 31)]
    found += [date(around[0].year, int(one), 10) for one in sorted(hints.numbers) if one in range(1, 13)][:4]
    return list(dict.fromkeys(found))


def _shifted_days(day: date, hints: Hints) -> Iterator[date]:
    counts = {span.days for span in hints.spans if span.days}
    counts = {one for one in counts if one < 40_000}
    counts |= {int(one) for one in hints.numbers if 1 < one <= 1_000 and one == int(one)}
    for count in sorted(counts)[:5]:
        for shift in (-count, count, -count - 1, 1 - count, count + 1, count - 1):
            yield day + timedelta(shift)


def _stated(hints: Hints) -> Iterator[datetime]:
    for text in hints.texts:
        if re.fullmatch(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?", text):
            try:
                yield datetime.fromisoformat(text).replace(tzinfo=None)
            except ValueError:
                continue
        elif match := re.fullmatch(r"(\d{4})-(\d\d)|(\d{4})(\d\d)(\d\d)", text):
            year, month = int(match[1] or match[3]), int(match[2] or match[4])
            if 1 <= month <= 12 and 1950 <= year <= 2100:
                yield datetime(year, month, 1)


def _moments(hints: Hints) -> list[datetime]:
    found = sorted(_stated(hints))
    days = [one for one in _days(hints) if 1000 < one.year < 9000]
    noon = datetime(days[0].year, days[0].month, days[0].day, 12)
    hours = sorted(int(one) for one in hints.numbers if 0 <= one < 24)[:3]
    for one in [one for one in found if 1000 < one.year < 9000][:4]:
        found += [one + timedelta(seconds=1), one - timedelta(seconds=1), one + timedelta(minutes=30)]
    found += [noon, noon.replace(hour=0), noon.replace(hour=9, minute=30)]
    found += [noon.replace(hour=hour, minute=minute) for hour in hours for minute in (0, 59)]
    for span in sorted({*(one for one in hints.spans if one.days < 20_000), timedelta(minutes=30)})[:5]:
        found += [noon + span, noon + span + timedelta(seconds=1), noon + span - timedelta(seconds=1), noon - span]
        found += [noon.replace(second=30), noon + span + timedelta(seconds=10)]
        found.append(noon + 2 * span)
    minutes = sorted(int(one) for one in hints.numbers if 0 < one <= 1_440)[:4]
    found += [noon + timedelta(minutes=one, seconds=second) for one in minutes for second in (0, 1, -1)]
    found += [noon + timedelta(hours=one) for one in minutes[:3]]
    for day in days[:10]:
        start = datetime(day.year, day.month, day.day)
        found += [start, start + timedelta(hours=23, minutes=59, seconds=59), start + timedelta(hours=10)]
    return list(dict.fromkeys(found))


def _documents(hints: Hints) -> Iterator[str]:
    """JSON documents that have what the paths of a query ask for, or nothing, or something else there."""
    keys = sorted({part for path in hints.paths for part in re.findall(r"\w+", path)})
    texts = [f'"{one}"' for one in sorted(hints.texts) if one.isprintable() and '"' not in one and "$" not in one]
    numbers = [format(one, "f") for number in sorted(hints.numbers)[:6] for one in (number, number - _HALF)]
    choices = [*texts[:8], *numbers, "1", "2.5", "12.49", '"a"', "null", "true", "[1, 2]", '"7"', "0"]
    for place, value in enumerate(choices):
        inner = ", ".join(f'"{key}": {choices[(place + n) % len(choices)]}' for n, key in enumerate(keys))
        yield f"{{{inner}}}"
        yield from _nested(hints, value)
    yield from ("{}", "[]", "[1, 2, 3]", "null", '{"a": 1}')


def _nested(hints: Hints, value: str) -> Iterator[str]:
    for path in sorted(hints.paths)[:4]:
        parts = re.findall(r"\w+", path)
        if len(parts) > 1 or not parts:
            text = value
            for part in reversed(parts):
                text = f'{{"{part}": {text}}}'
            yield text


def _lists(shape: Shape, hints: Hints) -> Iterator[str]:
    assert shape.element is not None
    some = list(dict.fromkeys(_literals(shape.element, hints)))[:12]
    yield "[]"
    for place, one in enumerate(some):
        following, third = some[(place + 1) % len(some)], some[(place + 2) % len(some)]
        yield from (f"[{one}]", f"[{one}, {following}]", f"[{third}, {one}, {following}]", f"[{one}, {one}]")
        if place % 3 == 0:
            yield f"[{one}, NULL]"


def spans_of(pairs: Iterable[tuple[Decimal, str]]) -> Iterator[timedelta]:
    """Intervals such as (30, "day") as spans; months and years are taken as 30 and 365 days."""
    units = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "month": 2_592_000}
    units |= {"quarter": 7_776_000, "year": 31_536_000}
    for count, unit in pairs:
        seconds = units.get(unit.lower().rstrip("s"), 0) * float(count)
        if 0 < abs(seconds) < 3e9:
            yield timedelta(seconds=abs(seconds))
