"""Denied unless granted: patterns, roles, scopes and hidden fields, against words and regular expressions."""

import re
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from whence.model.access import OPEN, SCOPES, Action, Grant, Hiding, Role, Viewer, matches_pattern
from whence.model.names import DatasetName, FieldName, JobName

letters = st.text("ab*.\n", max_size=8)
NEEDED = {Action.READ: 1, Action.WRITE: 2, Action.STEWARD: 3, Action.ADMIN: 4}


@given(pattern=letters, text=st.text("ab.\n", max_size=10))
def test_a_pattern_fits_as_its_regular_expression_does(pattern: str, text: str) -> None:
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    assert matches_pattern(pattern, text) == bool(re.fullmatch(expression, text, re.DOTALL))


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert not matches_pattern("*a" * 5_000 + "*b", "a" * 100_000)


@given(
    grants=st.lists(st.tuples(st.sampled_from(Role), st.sampled_from(("a", "b", "*")))),
    scopes=st.frozensets(st.sampled_from(sorted(SCOPES))),
    action=st.sampled_from(sorted(SCOPES)),
    namespace=st.sampled_from(("a", "b", "c")),
)
def test_what_is_not_granted_is_denied(
    grants: list[tuple[Role, str]], scopes: frozenset[Action], action: Action, namespace: str
) -> None:
    viewer = Viewer(name="v", grants=tuple(Grant(*one) for one in grants), scopes=scopes)
    enough = {where for role, where in grants if role >= NEEDED[action] and action in scopes}
    assert viewer.is_allowed(action, namespace) == bool(enough & {namespace, "*"})
    assert viewer.is_allowed(action) == bool(enough)
    assert viewer.is_allowed(Action.PUBLIC)


@given(namespaces=st.frozensets(st.sampled_from("abc")), hidden=st.frozensets(st.sampled_from("xyz")))
def test_a_field_is_seen_where_its_dataset_is_unless_it_is_hidden(
    namespaces: frozenset[str], hidden: frozenset[str]
) -> None:
    grants = tuple(Grant(Role.READER, one) for one in namespaces)
    viewer = Viewer(name="v", grants=grants, hidings=tuple(Hiding("*", "t", one) for one in hidden))
    for namespace in "abc":
        dataset = DatasetName(namespace, "t")
        assert viewer.can_see(dataset) == viewer.can_see(JobName(namespace, "j")) == (namespace in namespaces)
        for field in "xyz":
            assert viewer.can_see(FieldName(dataset, field)) == (namespace in namespaces and field not in hidden)


patterns = st.sampled_from(("a", "b", "ab", "a*", "*a", "a*b", "*"))
TEXTS = tuple("".join(letters) for size in range(1, 5) for letters in product("abc", repeat=size))


@given(
    grants=st.lists(st.tuples(st.sampled_from(Role), patterns), max_size=3),
    hidings=st.lists(patterns, max_size=2),
    more=patterns,
)
def test_a_hiding_that_somebody_is_exempt_from_everywhere_changes_nothing(
    grants: list[tuple[Role, str]], hidings: list[str], more: str
) -> None:
    before, after = (
        Viewer(name="v", grants=tuple(Grant(*one) for one in grants), hidings=tuple(map(_hiding, rules)))
        for rules in (hidings, [*hidings, more])
    )
    kept = [where for role, where in grants if role >= Role.STEWARD]
    # Every namespace of up to four letters stands for all of them: no pattern here is longer than two.
    is_exempt = all(any(_matches(one, text) for one in kept) for text in TEXTS if _matches(more, text))
    assert (before == after) or not is_exempt
    sees_all = any(where == "*" for _, where in grants)
    rules_left = any(not _is_covered(one, kept) for one in [*hidings, more])
    assert after.can_see_all == (sees_all and not rules_left)
    assert any(after.is_hidden(DatasetName(text, "t"), "f") for text in TEXTS) == rules_left


def _hiding(namespaces: str) -> Hiding:
    return Hiding(namespaces, "*", "*")


def _is_covered(pattern: str, by: list[str]) -> bool:
    return all(any(_matches(one, text) for one in by) for text in TEXTS if _matches(pattern, text))


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern.replace("*", ".*"), text) is not None


def test_nobody_sees_nothing_and_open_sees_all() -> None:
    assert not Viewer(name="nobody").can_see(DatasetName("a", "t"))
    assert OPEN.can_see_all
    assert not Viewer(name="w", grants=OPEN.grants, scopes=frozenset({Action.WRITE})).can_see_all
