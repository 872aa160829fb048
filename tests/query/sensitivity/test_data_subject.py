"""Where the data of a person is: a request about a customer of a shop with production, staging and hostile names."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from fixtures.stores_of_events import apply_bodies
from query.worlds.sensitive_story import (
    BODIES,
    CRM,
    DEV,
    EMAIL,
    FEATURES,
    HOUR,
    PATIENTS,
    REPORT,
    SALARY,
    STAGING,
    USERS,
    of,
    ran,
    same,
    tagged,
)
from whence.errors import QuestionError
from whence.model.access import Grant, Role, Viewer
from whence.model.graph import Direction
from whence.model.names import DatasetName, JobName, Node
from whence.model.sensitivity import Grade
from whence.query.answers.values import Question
from whence.query.sensitivity.data_subject import PlaceOfData, SubjectData, subject_data
from whence.query.sensitivity.labels import SensitivityQuestion
from whence.query.sensitivity.retention import Retention
from whence.query.visibility.catalog import VisibleCatalog, scope_of
from whence.query.visibility.graph import VisibleGraph, seen_by
from whence.store.connection.engine import reading
from whence.store.snapshots.catalog import StoreCatalog
from whence.store.snapshots.graph import StoreGraph

MAIL = DatasetName("s3://prod", "mail | `list`\n<b>")
LISTED = of(MAIL, "to")
BOUNCES = DatasetName("s3://prod", "bounces")
KEPT = [
    ran("mail", 7, tagged(CRM, ("retention", "P90D", ""), ("pii", "true", "email")), MAIL, [same(EMAIL, LISTED)]),
    ran("send", 8, tagged(MAIL, ("retention", "18 months", "")), BOUNCES, []),
    ran("keep", 9, tagged(USERS, ("retention", "for ever", "")), MAIL, [same(of(USERS, "contact"), LISTED)]),
]


@pytest.fixture
def graph(store: Engine) -> Iterator[StoreGraph]:
    apply_bodies(store, BODIES)
    with reading(store) as connection:
        yield StoreGraph(connection)


def ask(graph: StoreGraph, root: Node | None = None, *tags: str, at_least: Grade = Grade.PARTIAL) -> SubjectData:
    question = SensitivityQuestion(direction=Direction.DOWNSTREAM, range=Question(), tags=tags, at_least=at_least)
    return subject_data(StoreCatalog(graph.connection), graph, root, question)


def steps(found: SubjectData) -> dict[DatasetName, tuple[int, Grade]]:
    return {one.dataset: (one.step, one.grade) for one in found.places}


def place(found: SubjectData, dataset: DatasetName) -> PlaceOfData:
    (one,) = (one for one in found.places if one.dataset == dataset)
    return one


def test_all_that_is_tagged_is_followed_and_what_is_made_of_it_is_erased_after_it(graph: StoreGraph) -> None:
    found = ask(graph)
    assert steps(found) == {
        CRM: (1, Grade.FULL),
        PATIENTS: (1, Grade.FULL),
        USERS: (2, Grade.FULL),
        STAGING: (2, Grade.FULL),
        DEV: (3, Grade.PSEUDONYMOUS),
        FEATURES: (3, Grade.FULL),
        REPORT: (4, Grade.FULL),
    }
    assert found.completeness.complete
    assert found.more_starts == 0


def test_the_data_of_one_column_is_not_that_of_its_table(graph: StoreGraph) -> None:
    found = ask(graph, SALARY, at_least=Grade.STATISTIC)
    assert {one: grade for one, (_, grade) in steps(found).items()} == {
        CRM: Grade.FULL,
        USERS: Grade.FULL,
        FEATURES: Grade.STATISTIC,
        REPORT: Grade.STATISTIC,
    }
    assert [one.node for one in place(found, USERS).labels] == [of(USERS, "salary")]


def test_tags_say_what_counts(graph: StoreGraph) -> None:
    assert set(steps(ask(graph, None, "phi"))) == {PATIENTS, REPORT}
    assert set(steps(ask(graph, None, "class=secret"))) >= {CRM, USERS}
    nothing = ask(graph, None, "nothing")
    assert (nothing.starts, nothing.places, nothing.completeness.complete) == ((), (), True)


def test_who_reads_it_and_when_it_was_written(graph: StoreGraph) -> None:
    found = place(ask(graph), USERS)
    assert found.readers == (JobName("prod", "features"),)
    assert found.last_written == HOUR
    assert place(ask(graph), CRM).last_written is None


def test_a_copy_is_kept_no_longer_than_its_source(store: Engine) -> None:
    apply_bodies(store, KEPT)
    with reading(store) as connection:
        found = ask(StoreGraph(connection))
    assert place(found, CRM).retention == Retention("P90D", 90)
    assert place(found, CRM).must_keep_days is None
    assert place(found, MAIL).retention == Retention("18 months", 540)
    assert place(found, MAIL).must_keep_days == 90
    assert BOUNCES not in steps(found)


def test_hidden_readers_are_counted_and_hidden_tags_do_not_count(graph: StoreGraph) -> None:
    viewer = Viewer(name="ann", grants=(Grant(role=Role.READER, namespaces="s3://prod"),))
    question = SensitivityQuestion(direction=Direction.DOWNSTREAM, range=Question(), at_least=Grade.PARTIAL)
    seen, whole = seen_by(viewer, b"secret", graph), StoreCatalog(graph.connection)
    assert isinstance(seen, VisibleGraph)
    catalog = VisibleCatalog(seen.visible_ids, replace(whole, scope=scope_of(viewer, whole.every_namespace())))
    found = subject_data(catalog, seen, None, question)
    assert place(found, USERS).readers == ()
    assert place(found, USERS).hidden_readers == 1
    text = repr(found)
    for hidden in ("load users", "staging", "bi://", "report"):
        assert hidden not in text


def test_a_job_has_no_data_of_a_person(graph: StoreGraph) -> None:
    with pytest.raises(QuestionError):
        ask(graph, JobName("prod", "report"))
