"""Labels of a story with personal data: how much of what is in which column, for whom, and as of when."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from query.worlds.sensitive_story import (
    BODIES,
    CITY,
    CRM,
    DEV,
    EMAIL,
    FEATURES,
    HOUR,
    PATIENTS,
    PHONE,
    REPORT,
    SALARY,
    STAGING,
    USERS,
    of,
)
from whence.errors import QuestionError
from whence.model.access import Grant, Role, Viewer
from whence.model.graph import Direction
from whence.model.names import FieldName, JobName, Node
from whence.model.sensitivity import Grade
from whence.query.answers.values import Question
from whence.query.ports.graph import Graph
from whence.query.sensitivity.labels import Label, Sensitivity, SensitivityQuestion, sensitivity
from whence.query.visibility.graph import seen_by
from whence.store.connection.engine import reading
from whence.store.snapshots.graph import StoreGraph


@pytest.fixture
def graph(store: Engine) -> Iterator[StoreGraph]:
    apply_bodies(store, BODIES)
    with reading(store) as connection:
        yield StoreGraph(connection)


def ask(
    graph: Graph,
    node: Node,
    *,
    down: bool = False,
    tags: tuple[str, ...] = (),
    at_least: Grade = Grade.INFLUENCED,
    at: int | None = None,
) -> Sensitivity:
    direction = Direction.DOWNSTREAM if down else Direction.UPSTREAM
    return sensitivity(
        graph, node, SensitivityQuestion(direction=direction, range=Question(at=at), tags=tags, at_least=at_least)
    )


def short(one: Label) -> tuple[Node, str, str, bool]:
    return one.node, one.category, one.grade.word, one.is_assumed


def test_a_dataset_says_what_is_in_its_columns(graph: StoreGraph) -> None:
    found = ask(graph, FEATURES, at_least=Grade.STATISTIC)
    assert [short(one) for one in found.labels] == [
        (of(FEATURES, "code"), "pii", "full", True),
        (of(FEATURES, "id"), "pii", "pseudonymous", False),
        (of(FEATURES, "last_hash"), "pii", "pseudonymous", True),
        (of(FEATURES, "secret"), "pii", "pseudonymous", True),
        (of(FEATURES, "mean_salary"), "financial", "statistic", False),
    ]
    assert found.counts[Grade.INFLUENCED] == sum(one.grade is Grade.INFLUENCED for one in ask(graph, FEATURES).labels)
    assert found.sources == (EMAIL, PHONE, SALARY)
    assert found.completeness.complete


def test_each_label_has_a_shortest_way_with_its_grade(graph: StoreGraph) -> None:
    ways = {one.node: one.path for one in ask(graph, REPORT).labels if one.category == "pii"}
    assert ways[of(REPORT, "one_contact")] == (EMAIL, of(USERS, "contact"), of(REPORT, "one_contact"))
    assert ways[of(REPORT, "users")] == (EMAIL, of(USERS, "email_hash"), of(FEATURES, "id"), of(REPORT, "users"))


def test_a_filter_on_a_sensitive_column_influences_the_whole_dataset(graph: StoreGraph) -> None:
    """So `city`, which is nobody's secret, is influenced by the emails that were filtered for."""
    (label,) = ask(graph, of(FEATURES, "city")).labels
    assert (label.category, label.grade, label.proven) == ("pii", Grade.INFLUENCED, Grade.INFLUENCED)
    assert label.path[-1] == of(FEATURES, "city")


def test_a_tag_on_a_dataset_may_mean_any_of_its_columns(graph: StoreGraph) -> None:
    (label,) = (one for one in ask(graph, of(REPORT, "ward")).labels if one.category == "phi")
    assert (label.grade, label.proven, label.path) == (
        Grade.FULL,
        Grade.NONE,
        (of(PATIENTS, "ward"), of(REPORT, "ward")),
    )


def test_where_a_column_goes(graph: StoreGraph) -> None:
    found = ask(graph, EMAIL, down=True, at_least=Grade.PARTIAL)
    assert {(one.node, one.grade.word) for one in found.labels} == {
        (of(USERS, "contact"), "full"),
        (of(STAGING, "contact"), "full"),
        (of(REPORT, "one_contact"), "full"),
        (of(REPORT, "again"), "full"),
        (of(FEATURES, "code"), "full"),
        (of(USERS, "email_hash"), "pseudonymous"),
        (of(FEATURES, "id"), "pseudonymous"),
        (of(FEATURES, "secret"), "pseudonymous"),
        (of(FEATURES, "last_hash"), "pseudonymous"),
        (of(DEV, "contact"), "pseudonymous"),
    }
    assert found.counts[Grade.STATISTIC] == 1
    assert {one.category for one in found.labels} == {"pii"}


def test_where_untagged_data_goes(graph: StoreGraph) -> None:
    found = ask(graph, CITY, down=True)
    assert {(one.node, one.category, one.grade) for one in found.labels} == {
        (of(USERS, "city"), "untagged", Grade.FULL),
        (of(FEATURES, "city"), "untagged", Grade.FULL),
    }


def test_where_the_sensitive_columns_of_a_dataset_go(graph: StoreGraph) -> None:
    found = ask(graph, CRM, down=True, at_least=Grade.FULL)
    assert {one.category for one in found.labels} == {"pii", "financial"}
    assert not any(one.node in (EMAIL, PHONE, SALARY) for one in found.labels)


def test_own_tags_take_the_place_of_the_known_words(graph: StoreGraph) -> None:
    for tag in ("class=secret", "happiness"):
        assert {short(one) for one in ask(graph, of(FEATURES, "city"), tags=(tag,)).labels} == {
            (of(FEATURES, "city"), tag, "full", False)
        }
    assert ask(graph, of(FEATURES, "city"), tags=("no such",)).labels == ()


def test_a_sensitive_column_has_its_own_label(graph: StoreGraph) -> None:
    (label,) = ask(graph, EMAIL).labels
    assert (label.grade, label.proven, label.path) == (Grade.FULL, Grade.FULL, (EMAIL,))


def test_as_of_a_time_before_a_column_was_made(graph: StoreGraph) -> None:
    assert ask(graph, of(REPORT, "one_contact"), at=3 * HOUR).labels
    assert not ask(graph, of(REPORT, "one_contact"), at=2 * HOUR).labels


def test_no_tag_of_a_hidden_dataset_counts_and_the_answer_says_so(graph: StoreGraph) -> None:
    viewer = Viewer(
        name="intern", grants=tuple(Grant(role=Role.READER, namespaces=one) for one in ("bi://prod", "s3://staging"))
    )
    seen = seen_by(viewer, b"secret", graph)
    found = ask(seen, REPORT)
    assert found.labels == ()
    assert found.completeness.hidden_nodes > 0
    shown = {str(node) for one in ask(seen, REPORT, tags=("pii",)).labels for node in one.path}
    assert not any("crm" in name or "users" in name for name in shown)


def test_a_job_has_no_columns(graph: StoreGraph) -> None:
    with pytest.raises(QuestionError):
        ask(graph, JobName("prod", "features"))


def test_what_nobody_knows_of_is_not_proven(graph: StoreGraph) -> None:
    for one in ask(graph, FEATURES).labels:
        assert isinstance(one.node, FieldName) or one.grade is Grade.INFLUENCED
        assert one.proven <= one.grade
