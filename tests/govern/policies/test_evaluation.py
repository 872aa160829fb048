"""Judging: what is certain stays, whatever the open questions turn out to be; findings carry their way."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from whence.govern.policies.conditions import Condition, LabelAtLeast
from whence.govern.policies.estate import Estate, Retention, Shown, SourceRetention, Subject
from whence.govern.policies.evaluation import evaluate, outcome_of
from whence.govern.policies.policy import Outcome, Policy
from whence.model.names import DatasetName, FieldName
from whence.model.sensitivity import Grade

RAW, MART, BOARD = (DatasetName(f"s3://{stage}", "[bold]\x1b mart; --") for stage in ("raw", "mart", "bi"))
MAIL = FieldName(MART, "mail")

grades = st.sampled_from(Grade)
nodes: st.SearchStrategy[FieldName | DatasetName] = st.just(MAIL) | st.just(MART)
tags = st.frozensets(st.sampled_from(["a", "b", "c=1"]))


@st.composite
def subjects(draw: st.DrawFn) -> Subject:
    low, high = sorted((draw(grades), draw(grades)))
    days, own = draw(st.none() | st.integers(1, 5)), draw(st.none() | st.integers(1, 5))
    return Subject(
        node=draw(nodes),
        tags=draw(tags),
        labels={"pii": Shown(grade=high, proven=low)},
        retention=Retention(days=own),
        sources=SourceRetention(days=days, proven=draw(st.sampled_from([None, days]))),
    )


conditions = st.builds(
    Condition,
    kinds=st.frozensets(st.sampled_from(["column", "dataset"])),
    tags=st.tuples(st.sampled_from(["a", "c=1"])) | st.just(()),
    labels=st.tuples(st.builds(LabelAtLeast, st.just("pii"), grades)) | st.just(()),
    outlives_sources=st.none() | st.booleans(),
)
policies = st.builds(
    lambda where, required, unless: Policy(
        name="p", reason="r", owner="o", where=where, required=required, unless=unless
    ),
    conditions,
    st.none() | conditions,
    st.tuples(conditions) | st.just(()),
)


@given(policies, subjects(), st.data())
def test_what_is_judged_does_not_depend_on_what_is_open(policy: Policy, subject: Subject, data: st.DataObject) -> None:
    """The oracle: settle every open question in any way; then there is no third outcome, and it is the same."""
    shown = subject.labels["pii"]
    grade = Grade(data.draw(st.integers(shown.proven, shown.grade)))
    own = subject.retention.days or data.draw(st.integers(1, 9))
    sources = data.draw(st.sampled_from([subject.sources.days, subject.sources.proven]))
    settled = replace(
        subject,
        labels={"pii": Shown(grade=grade, proven=grade)},
        retention=Retention(days=own),
        sources=SourceRetention(days=sources, proven=sources),
    )
    open_, certain = (outcome_of(policy, one, Estate(subjects={one.node: one})) for one in (subject, settled))
    assert certain is not Outcome.NOT_EVALUATED
    assert open_ in (certain, Outcome.NOT_EVALUATED)


def policy(name: str, where: Condition, required: Condition | None = None) -> Policy:
    return Policy(name=name, reason="because", owner="privacy", where=where, required=required)


def shows(grade: Grade, proven: Grade) -> dict[str, Shown]:
    return {"pii": Shown(grade=grade, proven=proven, path=(FieldName(RAW, "mail"), MAIL))}


NO_PII = policy("no pii", Condition(kinds=frozenset({"column"}), labels=(LabelAtLeast("pii", Grade.PARTIAL),)))


def test_what_is_not_evaluated_blocks_on_the_way_to_a_certified_dataset() -> None:
    mail = Subject(node=MAIL, labels=shows(Grade.FULL, Grade.NONE))
    board = Subject(node=BOARD, tags=frozenset({"certified"}))
    apart = Estate(subjects={MAIL: mail, BOARD: board})
    assert [(one.outcome, one.blocks) for one in evaluate([NO_PII], apart).findings] == [("not evaluated", False)]
    joined = replace(apart, inputs={BOARD: frozenset({MART})})
    assert [(one.outcome, one.blocks) for one in evaluate([NO_PII], joined).findings] == [("not evaluated", True)]


def test_a_reason_is_about_what_the_policy_asks() -> None:
    kept = SourceRetention(days=90, proven=90)
    model = Subject(node=MAIL, labels=shows(Grade.FULL, Grade.NONE), sources=kept, certification="not evaluated")
    outlives = policy("kept", Condition(outlives_sources=True))
    certified = policy("certified", Condition(), required=Condition(certified=True))
    found = evaluate([NO_PII, outlives, certified], Estate(subjects={MAIL: model})).findings
    assert {one.policy.name: one.unknown.split(":")[0] for one in found} == {
        "no pii": "a step on the way was not read, so the grade is only assumed",
        "kept": "nobody says how long it is kept",
        "certified": "its certification is not evaluated",
    }


def test_a_violation_blocks_and_has_its_way() -> None:
    found = evaluate([NO_PII], Estate(subjects={MAIL: Subject(node=MAIL, labels=shows(Grade.FULL, Grade.FULL))}))
    ((finding),) = found.findings
    assert (found.outcome, finding.blocks, finding.path) == ("violated", True, (FieldName(RAW, "mail"), MAIL))


def test_hidden_nodes_and_a_cut_graph_are_no_pass() -> None:
    assert evaluate([NO_PII], Estate(subjects={})).outcome is Outcome.OK
    assert evaluate([NO_PII], Estate(subjects={}, hidden=1)).outcome is Outcome.NOT_EVALUATED
    assert evaluate([NO_PII], Estate(subjects={}, complete=False)).outcome is Outcome.NOT_EVALUATED


def test_a_policy_about_no_node_is_named() -> None:
    """A misspelt namespace is about nothing; a policy that nothing breaks is about something."""
    misspelt = policy("misspelt", Condition(namespaces=("s3://marts",)))
    found = evaluate([misspelt, NO_PII], Estate(subjects={MAIL: Subject(node=MAIL)}))
    assert found.idle == ("misspelt",)


def test_a_policy_of_a_namespace_judges_only_its_nodes() -> None:
    policy = Policy(name="p", reason="r", owner="o", where=Condition(tags=("a",)), namespaces=(MART.namespace,))
    estate = Estate(subjects={one: Subject(node=one, tags=frozenset("a")) for one in (RAW, MART, MAIL)})
    found = evaluate([policy], estate)
    assert [one.node for one in found.findings] == [MART, MAIL]
    assert found.counts[Outcome.VIOLATED] == sum(found.counts.values()) == 2
