"""Judging: coverage against brute force; what is certified stays so whatever is learned of what does not matter."""

from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from whence.govern.certification.coverage import Coverage, KnownLineage, coverage_of
from whence.govern.certification.facts import Facts, HeldContract, LastCheck
from whence.govern.certification.judge import Outcome, judge
from whence.govern.certification.rules import Requirements, Rule
from whence.model.names import DatasetName, FieldName

DATASETS = [DatasetName("s3://prod", f"[bold]\x1b{number}") for number in range(4)]
FIELDS = [FieldName(dataset, name) for dataset in DATASETS for name in ("a", "b")]
pairs = st.frozensets(st.tuples(st.sampled_from(FIELDS), st.sampled_from(FIELDS)), max_size=12)


@given(pairs, st.frozensets(st.sampled_from([*FIELDS, *DATASETS]), max_size=3))
def test_coverage_is_that_of_all_paths(
    edges: frozenset[tuple[FieldName, FieldName]], unreported: frozenset[FieldName | DatasetName]
) -> None:
    """The oracle: the closure of the pairs by squaring; each column by itself."""
    known = KnownLineage(
        columns={one: frozenset(field for field in FIELDS if field.dataset == one) for one in DATASETS},
        sources={one: frozenset(source for source, target in edges if target == one) for one in FIELDS},
        unreported=unreported,
    )
    closure = {(one, one) for one in FIELDS} | set(edges)
    for _ in FIELDS:
        closure |= {(a, d) for (a, b), (c, d) in product(closure, closure) if b == c}
    for dataset in DATASETS:
        reached = frozenset(source for source, target in closure if target.dataset == dataset)
        missing = frozenset(one for one in reached if one in unreported or one.dataset in unreported)
        explained = frozenset(one for one in reached - missing if any(target == one for _, target in edges))
        found = coverage_of(known, dataset)
        assert (found.explained, found.unexplained) == (explained, missing)


facts = st.builds(
    Facts,
    owners=st.sampled_from([frozenset[str](), frozenset({"ada"})]),
    owners_since=st.sampled_from([0, 20]),
    contract=st.none()
    | st.builds(
        HeldContract,
        version=st.just("1"),
        violations=st.sampled_from([None, 0, 2]),
        unevaluated=st.integers(0, 1),
        last_day=st.sampled_from([None, date(1969, 12, 31), date(1970, 1, 1)]),
    ),
    coverage=st.builds(
        Coverage,
        explained=st.frozensets(st.sampled_from(FIELDS[:4]), max_size=4),
        unexplained=st.frozensets(st.sampled_from(FIELDS[4:]), max_size=2),
        has_inputs=st.booleans(),
        complete=st.booleans(),
    ),
    checks=st.lists(
        st.builds(LastCheck, name=st.sampled_from(["x", "y"]), column=st.just(""), held=st.booleans(), time=st.just(1)),
        max_size=3,
    ).map(tuple),
    are_all_checks=st.booleans(),
)
requirements = st.builds(
    Requirements,
    owner=st.booleans(),
    contract=st.booleans(),
    lineage=st.sampled_from([None, Fraction(1, 2), Fraction(1)]),
    objectives=st.just(None),
    checks=st.booleans(),
)


@given(st.lists(requirements, min_size=1, max_size=3), facts)
def test_a_dataset_is_certified_if_every_requirement_is_met(wanted: list[Requirements], known: Facts) -> None:
    """The oracle: each requirement written out by itself, over all rules at once."""
    rules = [Rule(name=f"r{number}", namespaces=("s3://prod",), requirements=one) for number, one in enumerate(wanted)]
    found = judge(rules, known, 10)
    share = known.coverage.share
    is_met = all(
        (not one.owner or (bool(known.owners) and known.owners_since <= 10))
        and (
            not one.contract
            or (
                known.contract is not None
                and known.contract.violations == 0 == known.contract.unevaluated
                and known.contract.last_day != date(1969, 12, 31)
            )
        )
        and (
            one.lineage is None
            or (share is not None and share >= one.lineage and known.coverage.complete and known.coverage.has_inputs)
        )
        and (
            not one.checks
            or (bool(known.checks) and all(check.held for check in known.checks) and known.are_all_checks)
        )
        for one in wanted
    )
    assert (found.status == "certified") is is_met
    assert judge(rules[::-1], known, 10) == found
    # Who learns more does not lose what is not met for certain.
    if found.status == "not certified":
        settled = replace(known, coverage=replace(known.coverage, complete=True), are_all_checks=True)
        assert judge(rules, settled, 10).status == "not certified"


def test_nothing_is_certified_without_a_rule() -> None:
    assert judge([], Facts(owners=frozenset({"ada"})), 0).status == "no rule"
    assert judge([], Facts(), 0).with_outcome(Outcome.NOT_MET) == ()
