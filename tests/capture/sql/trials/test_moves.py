"""Values a step away from others: of the type that is asked for, or none."""

from datetime import timedelta
from decimal import Decimal

import pytest

from whence.capture.sql.trials.generation.moves import Move, moved, moves_of, stated_moves
from whence.capture.sql.trials.generation.values import Hints, shape_of

MOVED: list[tuple[str, Move | None, str, str | None]] = [
    ("7", Decimal(1), "INTEGER", "8"),
    ("7", Decimal("0.5"), "INTEGER", None),
    ("7", Decimal("-0.01"), "DECIMAL(8,2)", "6.99"),
    ("127", Decimal(1), "TINYINT", None),
    ("'2024-01-31 12:00:00'", timedelta(minutes=30), "TIMESTAMP", "'2024-01-31 12:30:00'"),
    ("'2024-01-31 12:00:00'", timedelta(days=1), "DATE", "'2024-02-01'"),
    ("'2024-01-31 12:00:00+00'", "hour's start", "TIMESTAMPTZ", "'2024-01-31 12:00:00+00'"),
    ("'2024-01-31'", "next month", "DATE", "'2024-02-29'"),
    ("'2024-01-31'", None, "TIMESTAMP", "'2024-01-31 00:00:00'"),
    ("'O''Hara'", "other case", "VARCHAR", "'o''hARA'"),
    ("'a'", Decimal(1), "VARCHAR", None),
    ("'not a day'", "next month", "DATE", None),
    ("TRUE", None, "BOOLEAN", None),
]


@pytest.mark.parametrize(("literal", "move", "type_", "wanted"), MOVED)
def test_a_moved_value_is_one_of_its_type_or_none(
    literal: str, move: Move | None, type_: str, wanted: str | None
) -> None:
    shape = shape_of(type_)
    assert shape is not None
    assert moved(literal, move, shape) == wanted


def test_the_steps_of_a_query_are_its_spans_and_just_beside_them() -> None:
    shape = shape_of("TIMESTAMP")
    assert shape is not None
    hints = Hints(numbers=frozenset({Decimal(30)}), units=frozenset({"minute"}))
    half_an_hour, second = timedelta(minutes=30), timedelta(seconds=1)
    wanted = {half_an_hour, -half_an_hour, half_an_hour + second, half_an_hour - second, None}
    assert wanted <= set(stated_moves(shape, hints)) <= {*moves_of(shape, hints), None}


def test_a_type_without_order_has_no_steps() -> None:
    shape = shape_of("BOOLEAN")
    assert shape is not None
    assert moves_of(shape, Hints()) == ()
