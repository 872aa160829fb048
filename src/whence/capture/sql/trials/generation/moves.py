"""Values a known step away from other values: gaps between rows, tolerances, other letters, other parts of a day."""

from calendar import monthrange
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Final, Literal

from whence.capture.sql.trials.generation.values import Hints, Kind, Shape, quoted

Move = Decimal | timedelta | str
"""What is added to a number or a time, or the name of a change of a text (`_TEXTS`) or of a time (`_TIMES`)."""
Family = Literal["number", "time", "text", ""]
_FAMILIES: Final[Mapping[Kind, Family]] = {
    **dict.fromkeys(("int", "decimal", "float"), "number"),
    **dict.fromkeys(("date", "timestamp", "timestamptz"), "time"),
    "text": "text",
}
_TEXTS: Final[Mapping[str, Callable[[str], str]]] = {
    "other case": str.swapcase,
    "small": str.lower,
    "capital": str.upper,
    "space after": lambda text: f"{text} ",
    "space before": lambda text: f" {text}",
    "trimmed": str.strip,
    "empty": lambda _: "",
    "longer": lambda text: f"{text}x",
    "shorter": lambda text: text[:-1],
    "second half": lambda text: text[1:],
    "prefixed": lambda text: f"x{text}",
    "other end": lambda text: f"{text[:-1]}{'b' if text[-1:] != 'b' else 'c'}",
}
_TIMES: Final[Mapping[str, Callable[[datetime], datetime]]] = {
    "minute's start": lambda one: one.replace(second=0, microsecond=0),
    "hour's start": lambda one: one.replace(minute=0, second=0, microsecond=0),
    "day's start": lambda one: _midnight(one),
    "day's end": lambda one: _midnight(one) + timedelta(hours=23, minutes=59, seconds=59),
    "week's start": lambda one: _midnight(one) - timedelta(one.weekday()),
    "week's end": lambda one: _midnight(one) + timedelta(6 - one.weekday(), hours=23),
    "month's start": lambda one: _midnight(one).replace(day=1),
    "month's end": lambda one: one.replace(day=monthrange(one.year, one.month)[1]),
    "next month": lambda one: _month_later(one, 1),
    "month before": lambda one: _month_later(one, -1),
    "next year": lambda one: _month_later(one, 12),
    "year's start": lambda one: _midnight(one).replace(month=1, day=1),
    "year's end": lambda one: _midnight(one).replace(month=12, day=31),
}
_SECOND: Final = timedelta(seconds=1)
_USUAL_SPANS: Final = (
    *(_SECOND, timedelta(seconds=30), timedelta(minutes=1), timedelta(minutes=40), timedelta(hours=1)),
    *(timedelta(hours=5), timedelta(days=1), timedelta(hours=25), timedelta(days=7)),
)
_UNITS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MOST_NUMBERS: Final = 8


def moves_of(shape: Shape, hints: Hints) -> tuple[Move, ...]:
    """The steps that matter to a column, those of the query first; none for a type without order or letters."""
    match _FAMILIES.get(shape.kind, ""):
        case "number":
            return tuple(dict.fromkeys(_number_moves(shape, hints)))
        case "time":
            return tuple(dict.fromkeys(_time_moves(shape, hints)))
        case "text":
            return tuple(_TEXTS)
        case _:
            return ()


def stated_moves(shape: Shape, hints: Hints) -> tuple[Move | None, ...]:
    """The steps that a comparison states, and none; the smallest ones if it states nothing."""
    found: dict[Move | None, None] = {None: None}
    match _FAMILIES.get(shape.kind, ""):
        case "number":
            found |= dict.fromkeys(_number_moves(shape, hints))
            most = 6 * min(len(hints.numbers), _MOST_NUMBERS) or 4
        case "time":
            found |= dict.fromkeys(_time_moves(shape, hints))
            most = 6 * len(_spans(hints)) or 6
        case _:
            found |= dict.fromkeys(_TEXTS)
            most = 8
    return tuple(found)[: most + 1]


def family_of(shape: Shape) -> Family:
    """Types whose values can be made of each other's."""
    return _FAMILIES.get(shape.kind, "")


def moved(literal: str, move: Move | None, shape: Shape) -> str | None:
    """A literal of the shape's family a step away from another one, or that one (None); None if there is none."""
    bare = literal.strip("'")
    try:
        match family_of(shape):
            case "number" if not isinstance(move, (timedelta, str)):
                return _number(Decimal(bare) + (move or 0), shape)
            case "time" if not isinstance(move, Decimal):
                return _time(_moved_time(datetime.fromisoformat(bare), move), shape)
            case "text" if isinstance(move, str) or move is None:
                text = literal[1:-1].replace("''", "'")
                return quoted(text if move is None else _TEXTS[move](text))
    except (InvalidOperation, ValueError, OverflowError):
        pass
    return None


def _number_moves(shape: Shape, hints: Hints) -> Iterator[Decimal]:
    step = Decimal(1).scaleb(-shape.scale) if shape.kind == "decimal" else Decimal(1)
    half = Decimal("0.5")
    for number in sorted(hints.numbers, key=abs)[:_MOST_NUMBERS]:
        for near in (number, number + step, number - step):
            yield from (near, -near)
    yield from (step, -step, Decimal(1), Decimal(-1))
    if shape.kind != "int":
        yield from (half, -half, Decimal("0.05"), Decimal("0.25"))


def _number(value: Decimal, shape: Shape) -> str | None:
    if not value.is_finite() or abs(value) >= Decimal(10) ** min(shape.digits, 9):
        return None
    if shape.kind == "int":
        return str(int(value)) if value == int(value) and abs(value) <= _most(shape) else None
    return format(value, "f")


def _most(shape: Shape) -> int:
    return {"tinyint": 127, "smallint": 32_767}.get(shape.type.lower(), 2_000_000_000)


def _time_moves(shape: Shape, hints: Hints) -> Iterator[timedelta | str]:
    for span in _spans(hints):
        for near in (span, span + _SECOND, span - _SECOND):
            yield from (near, -near)
    if shape.kind == "date":
        yield from (timedelta(sign * days) for days in (1, 7) for sign in (1, -1))
    else:
        yield from (sign * span for span in _USUAL_SPANS for sign in (1, -1))
    yield from _TIMES


def _spans(hints: Hints) -> list[timedelta]:
    """The intervals of a query, and its numbers in each unit of time that it names."""
    found = {span for span in hints.spans if span < timedelta(4_000)}
    units = [_UNITS[one] for one in sorted(hints.units & _UNITS.keys())] or ([86_400] if not found else [])
    numbers = [one for one in sorted(hints.numbers, key=abs) if 0 < one < 4_000][:_MOST_NUMBERS]
    numbers = numbers or ([Decimal(1)] if not found else [])
    found |= {timedelta(seconds=float(number) * unit) for unit in units for number in numbers}
    return sorted(one for one in found if one < timedelta(20_000))[:12]


def _moved_time(one: datetime, move: timedelta | str | None) -> datetime:
    match move:
        case None:
            return one
        case timedelta():
            return one + move
        case _:
            return _TIMES[move](one.replace(tzinfo=None)).replace(tzinfo=one.tzinfo)


def _time(one: datetime, shape: Shape) -> str | None:
    if not 1900 < one.year < 9000:
        return None
    if shape.kind == "date":
        return f"'{one.date()}'"
    text = str(one.replace(tzinfo=None))
    return f"'{text}+00'" if shape.kind == "timestamptz" else f"'{text}'"


def _midnight(one: datetime) -> datetime:
    return one.replace(hour=0, minute=0, second=0, microsecond=0)


def _month_later(one: datetime, months: int) -> datetime:
    year, month = divmod(one.year * 12 + one.month - 1 + months, 12)
    return one.replace(year=year, month=month + 1, day=min(one.day, monthrange(year, month + 1)[1]))
