"""The algebra of transformations, against the rules written out one path at a time."""

from hypothesis import given
from hypothesis import strategies as st

from whence.capture.sql.provenance.flows import MASKED, SUBTYPES, compose, edge_kinds

DIRECT = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
INDIRECT = ("FILTER", "JOIN", "GROUP_BY", "SORT", "WINDOW", "CONDITIONAL")
BITS: dict[str, int] = {subtype: bit for bit, (_, subtype) in SUBTYPES.items()}
WAYS = st.sets(
    st.tuples(st.sampled_from(DIRECT), st.booleans()) | st.tuples(st.sampled_from(INDIRECT), st.just(False)), max_size=6
)
Way = tuple[str, bool]


def bits(ways: set[Way]) -> int:
    return sum(BITS[subtype] << (MASKED if masked else 0) for subtype, masked in ways)


def path(inner: Way, outer: Way) -> Way:
    """Two steps as one: what is INDIRECT stays so, and the outer kind wins; else the stronger; masking is or."""
    if outer[0] in INDIRECT:
        return outer
    if inner[0] in INDIRECT:
        return inner
    return max(inner[0], outer[0], key=DIRECT.index), inner[1] or outer[1]


@given(WAYS, WAYS)
def test_composition_is_that_of_paths(inner: set[Way], outer: set[Way]) -> None:
    paths = {path(one, other) for one in inner for other in outer} if inner else set()
    indirect = {way for way in outer if way[0] in INDIRECT} if inner else set()
    assert {*paths, *indirect} == paths
    if inner:
        assert compose(bits(outer), bits(inner)) == bits(paths)


@given(WAYS, WAYS, WAYS)
def test_composition_is_associative(one: set[Way], two: set[Way], three: set[Way]) -> None:
    if one and two:
        left = compose(bits(three), compose(bits(two), bits(one)))
        assert left == compose(compose(bits(three), bits(two)), bits(one))


@given(WAYS)
def test_a_value_that_also_comes_unmasked_is_not_masked(ways: set[Way]) -> None:
    kinds = {(subtype, masking) for _, subtype, masking in edge_kinds(bits(ways))}
    assert kinds == {(subtype, masked) for subtype, masked in ways if not (masked and (subtype, False) in ways)}
