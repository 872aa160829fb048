"""Denied unless granted: patterns, roles, scopes and hidden fields, against words and regular expressions."""

import re

from hypothesis import given
from hypothesis import strategies as st

from whence.model.access import OPEN, SCOPES, Action, Grant, Hiding, Role, Viewer, fits
from whence.model.names import DatasetName, FieldName, JobName

letters = st.text("ab*.\n", max_size=8)
NEEDED = {Action.READ: 1, Action.WRITE: 2, Action.STEWARD: 3, Action.ADMIN: 4}


@given(pattern=letters, text=st.text("ab.\n", max_size=10))
def test_a_pattern_fits_as_its_regular_expression_does(pattern: str, text: str) -> None:
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    assert fits(pattern, text) == bool(re.fullmatch(expression, text, re.DOTALL))


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert not fits("*a" * 5_000 + "*b", "a" * 100_000)


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
    assert viewer.may(action, namespace) == bool(enough & {namespace, "*"})
    assert viewer.may(action) == bool(enough)
    assert viewer.may(Action.PUBLIC)


@given(namespaces=st.frozensets(st.sampled_from("abc")), hidden=st.frozensets(st.sampled_from("xyz")))
def test_a_field_is_seen_where_its_dataset_is_unless_it_is_hidden(
    namespaces: frozenset[str], hidden: frozenset[str]
) -> None:
    grants = tuple(Grant(Role.READER, one) for one in namespaces)
    viewer = Viewer(name="v", grants=grants, hidings=tuple(Hiding("*", "t", one) for one in hidden))
    for namespace in "abc":
        dataset = DatasetName(namespace, "t")
        assert viewer.sees(dataset) == viewer.sees(JobName(namespace, "j")) == (namespace in namespaces)
        for field in "xyz":
            assert viewer.sees(FieldName(dataset, field)) == (namespace in namespaces and field not in hidden)


def test_nobody_sees_nothing_and_open_sees_all() -> None:
    assert not Viewer(name="nobody").sees(DatasetName("a", "t"))
    assert OPEN.sees_all
    assert not Viewer(name="w", grants=OPEN.grants, scopes=frozenset({Action.WRITE})).sees_all
