"""Composition of transformations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.query.answers.transformations import Transformation, in_a_row, side_by_side

DIRECT = [
    Transformation(type="DIRECT", subtype=subtype) for subtype in ("IDENTITY", "", "TRANSFORMATION", "AGGREGATION")
]
JOIN, FILTER = (Transformation(type="INDIRECT", subtype=subtype) for subtype in ("JOIN", "FILTER"))
UNKNOWN = Transformation()

some = st.builds(
    Transformation,
    type=st.sampled_from(("DIRECT", "INDIRECT", "UNKNOWN", "DIRECT")),
    subtype=st.sampled_from(("", "IDENTITY", "TRANSFORMATION", "AGGREGATION", "JOIN")),
    masking=st.booleans(),
)


@pytest.mark.parametrize("stronger", range(4))
@pytest.mark.parametrize("weaker", range(4))
def test_direct_in_a_row_is_the_strongest(stronger: int, weaker: int) -> None:
    assert in_a_row(DIRECT[stronger], DIRECT[weaker]) == DIRECT[max(stronger, weaker)]


def test_indirect_wins_in_a_row_and_loses_side_by_side() -> None:
    assert in_a_row(DIRECT[3], JOIN) == JOIN
    assert in_a_row(UNKNOWN, JOIN) == JOIN
    assert in_a_row(DIRECT[0], UNKNOWN) == UNKNOWN
    assert in_a_row(JOIN, FILTER) == Transformation(type="INDIRECT")
    assert side_by_side([JOIN, DIRECT[0], UNKNOWN]) == DIRECT[0]
    assert side_by_side([JOIN, UNKNOWN]) == UNKNOWN
    assert side_by_side([JOIN, FILTER]) == Transformation(type="INDIRECT")


def test_masking_holds_along_a_path_and_not_where_a_way_round_it_exists() -> None:
    masked = Transformation(type="DIRECT", subtype="TRANSFORMATION", masking=True)
    assert in_a_row(masked, DIRECT[0]).masking
    assert not side_by_side([masked, DIRECT[0]]).masking
    assert side_by_side([masked, JOIN]).masking


@given(some, some, some)
def test_in_a_row_is_associative_and_commutative(
    one: Transformation, two: Transformation, three: Transformation
) -> None:
    assert in_a_row(in_a_row(one, two), three) == in_a_row(one, in_a_row(two, three))
    assert in_a_row(one, two) == in_a_row(two, one)
